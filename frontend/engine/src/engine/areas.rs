//! Draws the areas of a device and answers questions about them.

use super::flame::sites;
use super::hit::moment_hit;
use super::ready::Ready;
use super::selection::population;
use frontend::ask::site_table::mark;
use frontend::ask::stack::stack_mark;
use frontend::ask::{AreaBy, AreaRow, Axis, GroupBy, GroupMark, Hit, Kind, NameMark};
use shared::analysis::{AREAS, Area, AreaGroup, Areas, Picture, PictureRequest, REST_COLOR, Site};
use shared::trace::Trace;

impl<'a> Ready<'a> {
    fn areas(self, by: AreaBy) -> &'a Areas {
        let cell = &self.kept.areas[by as usize];
        cell.get_or_init(|| Areas::new(&population(self, by == AreaBy::Category), by))
    }
}

/// Draws a part of the timeline; if one of the areas is the selected kind, the others are set back.
pub(super) fn picture(ready: Ready<'_>, by: AreaBy, request: &PictureRequest, selected: Option<&Kind>) -> Picture {
    let areas = ready.areas(by);
    let mut picture = ready.timeline.area_picture(ready.device, request, &areas.of, &areas.colors());
    let chosen = selected.and_then(|kind| areas.named.iter().find(|area| kind_of(ready.trace, &area.group) == *kind));
    if let Some(chosen) = chosen {
        picture.bands.iter_mut().for_each(|band| band.is_other = band.color != chosen.color);
    }
    picture
}

/// Returns the kind with the allocations of a group.
///
/// That of a function also has allocations of functions that it calls, as a box of the flame graph has.
fn kind_of(trace: &Trace, group: &AreaGroup) -> Kind {
    let module = |title| Kind::Group(GroupMark { by: GroupBy::Module, mark: NameMark::of([title, ""]) });
    match group {
        AreaGroup::Category(category) => Kind::Category(*category),
        AreaGroup::Module(name) if name.is_empty() => module("no module recorded"),
        AreaGroup::Module(name) => module(name),
        AreaGroup::Function(None) => Kind::Stack(stack_mark(&[])),
        AreaGroup::Function(Some(frame)) => {
            Kind::Site { mark: mark(&sites::text(trace, Site::Frame(*frame), false)), is_line: false }
        }
    }
}

/// Returns the areas from the bottom up with their bytes at a moment; the rest is left out if it never has any.
pub(super) fn rows(ready: Ready<'_>, by: AreaBy, moment: u32, selected: Option<&Kind>) -> Vec<AreaRow> {
    let areas = ready.areas(by);
    let bytes = ready.timeline.area_bytes(&areas.of, moment.min(ready.timeline.events()));
    let has_rest = areas.of.iter().any(|&area| usize::from(area) == AREAS - 1);
    let row = |(area, bytes): (&Area, u64)| {
        let kind = kind_of(ready.trace, &area.group);
        let is_selected = selected == Some(&kind);
        AreaRow { label: area.label.clone(), color: area.color, bytes, kind: Some(kind), is_selected }
    };
    let mut rows: Vec<AreaRow> = areas.named.iter().zip(bytes).map(row).collect();
    if has_rest {
        let (label, bytes) = ("other".to_owned(), bytes[AREAS - 1]);
        rows.push(AreaRow { label, color: REST_COLOR, bytes, ..AreaRow::default() });
    }
    rows
}

/// Returns the moment and the area under a point.
pub(super) fn hit(ready: Ready<'_>, by: AreaBy, axis: Axis, (x, units_per_px): (f64, f64), bytes: f64) -> Hit {
    let moment = ready.timeline.moment_shown_at(ready.device, axis, x, units_per_px);
    let mut top = 0.0;
    let area = rows(ready, by, moment, None).into_iter().filter(|_| bytes >= 0.0).find(|row| {
        top += row.bytes as f64;
        bytes < top
    });
    Hit { area, ..moment_hit(ready, moment) }
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use frontend::ask::{Answers, AreaBy, Axis, GetAreas, GetHit};

    fn engine() -> Engine {
        Engine::of("alloc a 100 @relu<main\nalloc b 300 @norm<main\nalloc c 50 @relu<main\nfree a\n")
    }

    #[test]
    fn areas_have_the_bytes_of_the_moment() {
        let bytes = |moment| -> Vec<u64> {
            let ask = GetAreas { device: 0, by: AreaBy::Function, moment, selected: None };
            engine().answer(&ask).unwrap().iter().map(|row| row.bytes).collect()
        };
        assert_eq!((bytes(3), bytes(5)), (vec![300, 150], vec![300, 50]));
    }

    #[track_caller]
    fn check(bytes: f64, found: Option<u64>) {
        let (areas, axis, x) = (Some(AreaBy::Function), Axis::Events, 3.5);
        let ask = GetHit { device: 0, areas, axis, x, bytes, units_per_px: 0.1, is_click: false };
        let hit = engine().answer(&ask).unwrap();
        assert_eq!((hit.moment, hit.live_bytes, hit.area.map(|area| area.bytes)), (3, 450, found));
    }

    #[test]
    fn a_point_is_in_the_area_at_its_height() {
        check(0.0, Some(300));
        check(299.0, Some(300));
        check(300.0, Some(150));
        check(450.0, None);
        check(-1.0, None);
    }
}
