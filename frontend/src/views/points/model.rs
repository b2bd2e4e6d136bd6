//! Texts of bookmarks and measurements, and their flags in the timeline.

use crate::ask::MomentFacts;
use crate::state::{DockTab, Measure, Points, ReadyFile};
use crate::views::timeline::draw::flags::{Flag, FlagKind};
use shared::base::{Moment, format};

pub fn bookmark_name(moment: u32) -> String {
    match Moment(moment).event() {
        Some(event) => format!("Event {}", format::count(event.into())),
        None => "Start".to_owned(),
    }
}

pub fn flags(file: &ReadyFile) -> Vec<Flag> {
    let device = file.device_index();
    let points: &Points = &file.points;
    let bookmarks = points.bookmarks_of(device).map(|bookmark| {
        let label = if bookmark.note.is_empty() { bookmark_name(bookmark.moment) } else { bookmark.note.clone() };
        Flag { moment: bookmark.moment, label, kind: FlagKind::Bookmark }
    });
    let ends = points.measure_of(device).into_iter().flat_map(|Measure { from, to, .. }| {
        let end = |moment, label: &str| Flag { moment, label: label.to_owned(), kind: FlagKind::Measure };
        std::iter::once(end(from, "A")).chain(to.map(|to| end(to, "B")))
    });
    let event = file.choices.events.event.filter(|_| file.dock == Some(DockTab::Events)).map(|event| Flag {
        moment: event.saturating_add(1),
        label: format!("event {}", format::count(event.into())),
        kind: FlagKind::Event,
    });
    bookmarks.chain(ends).chain(event).collect()
}

/// Describes a measurement, given the facts of its ends: bytes, events and time between them.
pub fn measure_text(ends: &[MomentFacts]) -> String {
    match ends {
        [from, to] => {
            let change = |to: u64, from: u64| format::signed(to as i64 - from as i64, format::bytes);
            let time = to.time_us.zip(from.time_us).map(|(to, from)| format::duration(to.saturating_sub(from)));
            let parts = [
                Some(format!("live {}", change(to.live_bytes, from.live_bytes))),
                Some(format!("reserved {}", change(to.reserved_bytes, from.reserved_bytes))),
                Some(format::counted(u64::from(to.moment - from.moment.min(to.moment)), "event")),
                time,
            ];
            let between = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
            format!("A to B: {between} ({} to {})", bookmark_name(from.moment), bookmark_name(to.moment))
        }
        [from] => format!(
            "A: {}, live {}. Point at another moment and press X",
            bookmark_name(from.moment),
            format::bytes(from.live_bytes)
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(moment: u32, live_mib: u64, time_us: Option<u64>) -> MomentFacts {
        MomentFacts { moment, live_bytes: live_mib << 20, reserved_bytes: 64 << 20, time_us, ..MomentFacts::default() }
    }

    #[track_caller]
    fn check(ends: &[MomentFacts], text: &str) {
        assert_eq!(measure_text(ends), text);
    }

    #[test]
    fn a_measurement_is_told_in_a_line() {
        let from = facts(3, 4, Some(1000));
        check(&[from], "A: Event 2, live 4.00 MiB. Point at another moment and press X");
        check(
            &[from, facts(1003, 2, Some(3500))],
            "A to B: live −2.00 MiB, reserved ±0 B, 1,000 events, 2.50 ms (Event 2 to Event 1,002)",
        );
        check(
            &[facts(0, 0, None), facts(1, 2, None)],
            "A to B: live +2.00 MiB, reserved ±0 B, 1 event (Start to Event 0)",
        );
    }
}
