//! Computes the curve of a device among those of others.

use super::ready::Ready;
use frontend::ask::StripData;
use shared::analysis::Axis;
use shared::trace::Action;

/// More errors than this can't be told apart in a strip.
const MOST_OOMS: usize = 16;

pub(super) fn strip(ready: Ready<'_>, columns: u32) -> StripData {
    let Ready { device, timeline, .. } = ready;
    let axis = if timeline.has_times() { Axis::Time } else { Axis::Events };
    let end = timeline.x_end(axis);
    let columns = columns.max(1);
    let moment = |column: u32| timeline.moment_at_x(device, axis, end * f64::from(column) / f64::from(columns));
    let highest = |column: u32| {
        let (first, next) = (moment(column), moment(column + 1));
        timeline.live_max_in(first..next.max(first + 1)).1
    };
    let ooms = device.events.actions().iter().enumerate().filter(|(_, action)| *action == Action::Oom);
    let place = |event: usize| timeline.x_of_moment(device, axis, event as u32 + 1) / end.max(1.0);
    let first_us = device.events.times_us().get(0).filter(|_| axis == Axis::Time);
    StripData {
        clock_us: first_us.map(|first_us| (first_us, first_us.saturating_add(end as i64))),
        bytes: (0..columns).map(highest).collect(),
        ooms: ooms.take(MOST_OOMS).map(|(event, _)| place(event).min(1.0)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use frontend::ask::{Answers as _, GetStrip, StripData};
    use shared::trace::text;

    #[track_caller]
    fn check(lines: &str, columns: u32, expected: &StripData) {
        let strip = Engine::new(text::parse(lines).unwrap()).answer(&GetStrip { device: 0, columns }).unwrap();
        assert_eq!(strip, *expected);
    }

    #[test]
    fn a_strip_has_the_peaks_of_equal_times() {
        let timed = "alloc a 5 t=100\nalloc b 3 t=110\nfree_completed a t=111\noom 9 free=1 t=149";
        let expected = StripData { clock_us: Some((100, 150)), bytes: vec![8, 3], ooms: vec![0.98] };
        check(timed, 2, &expected);
        let plain = "alloc a 5\nalloc b 3\nfree_completed a\noom 9 free=1";
        check(plain, 5, &StripData { clock_us: None, bytes: vec![0, 5, 8, 3, 3], ooms: vec![0.8] });
    }
}
