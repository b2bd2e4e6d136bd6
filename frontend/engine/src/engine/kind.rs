//! Finds the allocations of a kind, and steps through them.

use super::allocations::{mark as group_mark, marked, shown_moment, stack_of};
use super::flame::sites;
use super::hit::{find_id, found_hit};
use super::ready::{Ready, Selected};
use super::selection::{filter, population};
use frontend::ask::site_table::mark;
use frontend::ask::stack::stack_mark;
use frontend::ask::{FilterData, Found, Kind, KindFacts, NameMark, SiteText, StepKind};
use shared::analysis::{
    AllocationId, Filter, GroupKey, Label, Members, Scope, Site, Weigher, Weight, group, label, select,
};
use shared::base::{format, stack_label};
use shared::report::frames;
use shared::trace::{FrameId, StackId, Trace};
use std::rc::Rc;

/// Conditions that a kind sets, and its facts apart from numbers.
type Meaning = (Filter, KindFacts);

/// Returns the allocations of a kind; the error is a message for the user if a search text is not valid, or if the file
/// has no such kind.
pub(super) fn selected(ready: Ready<'_>, kind: &Kind) -> Result<Rc<Selected>, String> {
    if let Some((_, found)) = ready.kept.kind.borrow().as_ref().filter(|(of, _)| of == kind) {
        return Ok(Rc::clone(found));
    }
    let (filter, facts) = meaning(ready, kind)?;
    let population = population(ready, filter.needs_categories());
    let ids = select(&population, &Scope::all(ready.timeline), &filter);
    let selected = Rc::new(Selected { members: Members::new(ready.timeline, ids), facts });
    *ready.kept.kind.borrow_mut() = Some((kind.clone(), Rc::clone(&selected)));
    Ok(selected)
}

/// Returns the totals of a kind, with its bytes at a moment; the error is that of [`selected`].
pub(super) fn facts(ready: Ready<'_>, kind: &Kind, moment: u32) -> Result<KindFacts, String> {
    let selected = selected(ready, kind)?;
    let members = &selected.members;
    let (most_moment, most_bytes) = members.max_in(0..u32::MAX);
    Ok(KindFacts {
        count: members.ids().len() as u64,
        bytes: members.bytes_at(moment),
        live_bytes: ready.timeline.live_at(moment),
        most_moment,
        most_bytes,
        ..selected.facts.clone()
    })
}

/// Returns the next or previous allocation of a kind, or its largest at a moment; the error is that of [`selected`].
pub(super) fn step(ready: Ready<'_>, ask: &StepKind) -> Result<Option<Found>, String> {
    let selected = selected(ready, &ask.kind)?;
    let ids = selected.members.ids();
    if ids.is_empty() {
        return Ok(None);
    }
    let before = |row: u32| ids.partition_point(|id| id.index() < row as usize);
    let position = match ask.from {
        None => largest_at(ready, ids, ask.moment),
        Some(row) if ask.is_back => before(row).checked_sub(1).unwrap_or(ids.len() - 1),
        Some(row) => ids.partition_point(|id| id.index() <= row as usize) % ids.len(),
    };
    let id = ids[position];
    let moment = shown_moment(ready, &Scope::At(ask.moment), id);
    Ok(Some(Found { hit: found_hit(ready, id, moment), position: position as u32, count: ids.len() as u32 }))
}

/// Returns the position of the largest allocation that is alive at a moment, or else of the largest one.
fn largest_at(ready: Ready<'_>, ids: &[AllocationId], moment: u32) -> usize {
    let rank = |id: AllocationId| (ready.is_alive(id, moment), ready.timeline.allocations.size_bytes_of(id));
    // Of equal ones, the first is returned.
    (0..ids.len()).rev().max_by_key(|&position| rank(ids[position])).unwrap_or(0)
}

fn meaning(ready: Ready<'_>, kind: &Kind) -> Result<Meaning, String> {
    let gone = || "This file has no such allocations".to_owned();
    match kind {
        Kind::StackOf(key) => Ok(of_stack_of(ready, find_id(ready, *key).ok_or_else(gone)?)),
        Kind::Stack(mark) => {
            let stack = marked_stack(ready.trace, *mark).ok_or_else(gone)?;
            Ok(of_group(ready, GroupKey::Stack(stack)))
        }
        Kind::Category(category) => {
            let filter = Filter { categories: Some(vec![*category]), ..Filter::default() };
            Ok((filter, of_group(ready, GroupKey::Category(*category)).1))
        }
        Kind::Group(mark) => {
            let (key, _) = marked(ready, *mark)?.ok_or_else(gone)?;
            Ok(of_group(ready, key))
        }
        Kind::Site { mark, is_line } => {
            let key = site_key(ready.trace, *mark, *is_line).ok_or_else(gone)?;
            Ok(of_group(ready, key))
        }
        Kind::Text { text, is_expression } => {
            let data = FilterData { text: text.clone(), is_expression: *is_expression, ..FilterData::default() };
            let quotes = if *is_expression { ["/", "/"] } else { ["“", "”"] };
            let title = format!("{}{text}{}", quotes[0], quotes[1]);
            let search = Some((text.clone(), *is_expression));
            Ok((filter(&data)?, KindFacts { title, search, ..KindFacts::default() }))
        }
    }
}

/// Returns the kind of an allocation: its stack, or without a stack its size.
///
/// All allocations without a stack would be a mixture, to which the timeline gives colours by size too.
fn of_stack_of(ready: Ready<'_>, id: AllocationId) -> Meaning {
    let stack = ready.timeline.allocations.allocation_stack(id, ready.device);
    if stack.has_frames() {
        return of_group(ready, GroupKey::Stack(stack));
    }
    let title = format!("no stack recorded, {} each", format::bytes(ready.timeline.allocations.size_bytes_of(id)));
    let (_, KindFacts { detail, .. }) = of_group(ready, GroupKey::Stack(StackId::NONE));
    (alike(ready, id), KindFacts { title, detail, ..KindFacts::default() })
}

/// Returns the filter for all allocations with the stack of one, or, without a stack, with its size.
pub(super) fn alike(ready: Ready<'_>, id: AllocationId) -> Filter {
    let stack = ready.timeline.allocations.allocation_stack(id, ready.device);
    if stack.has_frames() {
        return Filter { group: Some(GroupKey::Stack(stack)), ..Filter::default() };
    }
    let size_bytes = ready.timeline.allocations.size_bytes_of(id);
    // A file may have several stacks without frames, which are one group.
    let group = Some(GroupKey::Stack(StackId::NONE));
    Filter { group, size_bytes: size_bytes..=size_bytes, ..Filter::default() }
}

/// Returns the kind of a group, with the title that tables give it.
fn of_group(ready: Ready<'_>, key: GroupKey) -> Meaning {
    let population = population(ready, false);
    let weigher = Weigher::new(&population, &Scope::all(ready.timeline), Weight::Bytes);
    let groups = group(&population, &[], &weigher, key.by());
    let Label { title, detail } = label(ready.trace, &groups, key);
    let facts = KindFacts {
        title,
        detail,
        key: Some(key),
        mark: Some(group_mark(ready.trace, &groups, key)),
        sites: sites_of(ready.trace, key),
        stack: stack_of(ready.trace, key),
        ..KindFacts::default()
    };
    (Filter { group: Some(key), ..Filter::default() }, facts)
}

/// Returns the stack with a mark; of stacks that differ only in folders, the first.
fn marked_stack(trace: &Trace, mark: NameMark) -> Option<StackId> {
    if mark == stack_mark(&[]) {
        return Some(StackId::NONE);
    }
    trace.stacks.ids().find(|&stack| stack_mark(&frames(trace, stack)) == mark)
}

/// Returns the group of stacks with a line or a function, or of those without any frame.
fn site_key(trace: &Trace, of: NameMark, is_line: bool) -> Option<GroupKey> {
    if of == mark(&SiteText::default()) {
        return Some(GroupKey::Stack(StackId::NONE));
    }
    let mark_of = |id: &FrameId| mark(&sites::text(trace, Site::Frame(*id), is_line));
    let found = (0..trace.frames.len()).map(FrameId::from_index).find(|id| mark_of(id) == of);
    found.map(|frame| if is_line { GroupKey::Frame(Some(frame)) } else { GroupKey::Function(Some(frame)) })
}

/// Returns the marks of the line and the function that stand for a group in a flame graph.
fn sites_of(trace: &Trace, key: GroupKey) -> Option<[NameMark; 2]> {
    let frame = match key {
        GroupKey::Stack(stack) => {
            let ids = trace.stacks.frames(stack);
            let frames = ids.iter().map(|&id| trace.frames.get(id));
            let names = frames.map(|frame| (trace.strings.get(frame.name), trace.strings.get(frame.filename)));
            *ids.get(stack_label::automatic_position(names)?)?
        }
        GroupKey::Frame(frame) | GroupKey::Function(frame) => frame?,
        _ => return None,
    };
    Some([true, false].map(|is_line| mark(&sites::text(trace, Site::Frame(frame), is_line))))
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use frontend::ask::site_table::mark;
    use frontend::ask::stack::stack_mark;
    use frontend::ask::*;

    /// Two allocations of `relu`, one of `gelu`, and one without a stack.
    const TRACE: &str = "
    alloc a 600 @relu@nn.py<forward@model.py<main
    alloc b 300 @gelu@nn.py<forward@model.py<main
    alloc c 50
    alloc d 600 @relu@nn.py<forward@model.py<main
    free_completed a @clear@train.py<main
    free_completed b
";

    fn facts(engine: &mut Engine, kind: Kind) -> Result<KindFacts, String> {
        engine.answer(&GetKind { device: 0, kind, moment: 4 }).unwrap()
    }

    #[track_caller]
    fn check(kind: Kind, count: u64, bytes: u64) {
        let found = facts(&mut Engine::of(TRACE), kind.clone()).unwrap();
        assert_eq!((found.count, found.bytes, found.live_bytes), (count, bytes, 1550), "{kind:?}");
    }

    #[test]
    fn kinds_have_their_allocations() {
        check(Kind::StackOf(AllocationKey::Event(0)), 2, 1200);
        check(Kind::StackOf(AllocationKey::Event(2)), 1, 50);
        check(Kind::Stack(stack_mark(&[])), 1, 50);
        let text = |text: &str, is_expression| Kind::Text { text: text.to_owned(), is_expression };
        check(text("gelu", false), 1, 300);
        check(text("[rg]elu", true), 3, 1500);
        check(text("nothing", false), 0, 0);
        assert!(facts(&mut Engine::of(TRACE), text("(", true)).is_err());
        assert!(facts(&mut Engine::of(TRACE), Kind::StackOf(AllocationKey::Event(9))).is_err());
    }

    #[test]
    fn every_row_of_a_table_leads_to_its_kind() {
        for by in GroupBy::ALL.iter().copied() {
            let mut engine = Engine::of(TRACE);
            let request =
                TableRequest { selection: SelectionData::at(4), by: Some(by), count: 99, ..TableRequest::default() };
            let page = engine.answer(&GetRows { device: 0, request }).unwrap().unwrap();
            let TableRows::Groups(rows) = page.rows else { panic!("groups") };
            for row in rows {
                let MixedRow::Group(row, false) = row else { panic!("no group is open") };
                let found = facts(&mut engine, row.kind()).unwrap();
                assert_eq!((found.count, found.bytes), (row.count, row.bytes), "{by:?}: {}", row.title);
                assert_eq!(found.key, Some(row.key), "{by:?}: {}", row.title);
            }
        }
    }

    #[test]
    fn every_site_of_a_flame_graph_leads_to_its_kind() {
        for is_line in [true, false] {
            let mut engine = Engine::of(TRACE);
            let source = FlameSource { selection: SelectionData::at(4), by_line: is_line, with_runtime: true };
            let sites = engine.answer(&GetSites { device: 0, source }).unwrap().unwrap();
            for row in sites.rows {
                let found = facts(&mut engine, Kind::Site { mark: mark(&row.site), is_line }).unwrap();
                assert_eq!((found.count, found.bytes), (row.total.count, row.total.weight), "{}", row.site.name);
                if row.site != SiteText::default() {
                    assert_eq!(found.sites.unwrap()[usize::from(!is_line)], mark(&row.site));
                }
            }
        }
    }

    #[test]
    fn steps_go_round() {
        let mut engine = Engine::of(TRACE);
        let kind = Kind::StackOf(AllocationKey::Event(0));
        let mut step = |from, is_back| {
            let ask = StepKind { device: 0, kind: kind.clone(), from, is_back, moment: 6 };
            let found = engine.answer(&ask).unwrap().unwrap().unwrap();
            (found.hit.allocation.unwrap().allocation, found.position, found.count)
        };
        // Of two equal ones, only the last is alive.
        assert_eq!(step(None, false), (3, 1, 2));
        assert_eq!(step(Some(3), false), (0, 0, 2));
        assert_eq!(step(Some(0), true), (3, 1, 2));
        assert_eq!(step(Some(1), false), (3, 1, 2), "from an allocation of another kind");
    }

    #[test]
    fn arrows_lead_to_neighbours() {
        let mut engine = Engine::of(TRACE);
        let mut step = |from, toward, min_bytes| {
            let ask = StepAllocation { device: 0, from, moment: 4, toward, min_bytes };
            engine.answer(&ask).unwrap().map(|hit| hit.allocation.unwrap().allocation)
        };
        assert_eq!(step(None, Toward::Later, 0), Some(3));
        assert_eq!((step(Some(1), Toward::Later, 0), step(Some(1), Toward::Later, 100)), (Some(2), Some(3)));
        assert_eq!((step(Some(0), Toward::Earlier, 0), step(Some(3), Toward::Later, 0)), (None, None));
        assert_eq!((step(Some(1), Toward::Above, 0), step(Some(1), Toward::Below, 0)), (Some(2), Some(0)));
        assert_eq!((step(Some(1), Toward::Smaller, 0), step(Some(2), Toward::Larger, 0)), (Some(2), Some(1)));
        // Of two equal ones, the later counts as the smaller.
        assert_eq!((step(Some(0), Toward::Smaller, 0), step(Some(3), Toward::Smaller, 0)), (Some(3), Some(1)));
    }

    #[test]
    fn an_allocation_has_its_surroundings() {
        let mut engine = Engine::of(TRACE);
        let around = engine.answer(&GetAround { device: 0, allocation: 0, moment: 4 }).unwrap();
        assert_eq!((around.kind_count, around.kind_bytes, around.rounded_bytes), (2, 1200, Some(1024)));
        assert_eq!(around.free_frames.first().map(|frame| frame.name.as_str()), Some("clear"));
        let events =
            |near: &[frontend::ask::NearEvent]| near.iter().map(|near| (near.event, near.is_own)).collect::<Vec<_>>();
        assert_eq!(events(&around.near_alloc), [(0, true), (1, false), (2, false), (3, false)]);
        assert_eq!(events(&around.near_free), [(1, false), (2, false), (3, false), (4, true), (5, false)]);
        let names = engine.answer(&GetBandNames { device: 0, moment: 4, limit: 5 }).unwrap();
        assert_eq!(names.iter().map(|name| name.bytes).collect::<Vec<_>>(), [1200, 300]);
    }
}
