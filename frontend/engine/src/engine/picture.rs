//! Draws the picture of a view, sums its live bytes by category, and computes curves without bands.

use super::ready::Ready;
use super::{areas, kind};
use frontend::ask::{CategoryBytes, ColorBy, Kind, PictureData, StripData, View, area_by};
use shared::analysis::{Axis, Category, Coloring, Emphasis, PictureRequest, categories, live_by_given_category};
use shared::trace::Action;
use std::collections::HashSet;

/// Draws a view; a kind that cannot be read, such as an invalid search, sets nothing apart.
pub(super) fn picture(ready: Ready<'_>, view: View, kind: Option<&Kind>) -> PictureData {
    if let Some(by) = area_by(view.color) {
        return PictureData::new(view, &areas::picture(ready, by, &view.request, kind));
    }
    let coloring = match view.color {
        ColorBy::Category => Coloring::Category(ready.categories()),
        _ => Coloring::Stack,
    };
    let selected = kind.and_then(|kind| kind::selected(ready, kind).ok());
    let emphasis = Emphasis {
        members: selected.as_deref().map(|selected| &selected.members),
        apart: view.marking.apart.and_then(|row| ready.id(row)),
    };
    PictureData::new(view, &ready.timeline.picture_emphasizing(ready.device, &view.request, coloring, emphasis))
}

/// Returns only the curves: a picture with a single row of pixels has almost no bands.
pub(super) fn outline_picture(ready: Ready<'_>, axis: Axis, columns: u32) -> PictureData {
    let x1 = ready.timeline.x_end(axis);
    let y1 = ready.timeline.live_peak().1.max(ready.timeline.reserved_peak().1).max(1) as f64;
    let request = PictureRequest { axis, x1, y1, width_px: columns, height_px: 1, ..PictureRequest::default() };
    let view = View { request, pixel_ratio: 1.0, ..View::default() };
    PictureData { bands: Vec::new(), pixels: Vec::new(), ..picture(ready, view, None) }
}

impl<'a> Ready<'a> {
    /// Returns the category of each allocation of the device.
    pub(super) fn categories(self) -> &'a [Category] {
        let Self { device, timeline, .. } = self;
        self.kept.categories.get_or_init(|| categories(device, timeline, &self.studied().phases))
    }
}

/// Sums the live bytes of a moment by category, for the categories that occur in the trace, in the order of all.
pub(super) fn bytes_at(ready: Ready<'_>, moment: u32) -> CategoryBytes {
    let moment = moment.min(ready.timeline.events());
    let of_allocations = ready.categories();
    let allocations = &ready.timeline.allocations;
    let occur: HashSet<Category> = of_allocations[allocations.initial_count()..].iter().copied().collect();
    let live = live_by_given_category(allocations, of_allocations, moment);
    let of_trace = |category: Category| {
        let row = live.iter().find(|row| row.category == category);
        row.map_or(0, |row| row.bytes - row.initial_bytes)
    };
    let all = Category::ALL.into_iter().filter(|category| occur.contains(category));
    CategoryBytes {
        moment,
        initial_bytes: live.iter().map(|row| row.initial_bytes).sum(),
        rows: all.map(|category| (category, of_trace(category))).collect(),
        basis: ready.studied().phases.basis(),
    }
}

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

    #[track_caller]
    fn check(lines: &str, columns: u32, expected: &StripData) {
        let strip = Engine::of(lines).answer(&GetStrip { device: 0, columns }).unwrap();
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
