//! Tests of kinds: which allocations they select, and how the page steps through them.

use crate::engine::Engine;
use frontend::ask::site_table::mark;
use frontend::ask::stack::stack_mark;
use frontend::ask::{
    AllocationKey, Answers, FlameSource, GetAround, GetBandNames, GetKind, GetRows, GetSites, GroupBy, Kind, KindFacts,
    SelectionData, SiteText, StepAllocation, StepKind, TableRequest, TableRows, Toward,
};
use shared::trace::text;

/// Two allocations of `relu`, one of `gelu`, and one without a stack.
const TRACE: &str = "
    alloc a 600 @relu@nn.py<forward@model.py<main
    alloc b 300 @gelu@nn.py<forward@model.py<main
    alloc c 50
    alloc d 600 @relu@nn.py<forward@model.py<main
    free_completed a @clear@train.py<main
    free_completed b
";

fn engine() -> Engine {
    Engine::new(text::parse(TRACE).unwrap())
}

fn facts(engine: &mut Engine, kind: Kind) -> Result<KindFacts, String> {
    engine.answer(&GetKind { device: 0, kind, moment: 4 }).unwrap()
}

#[track_caller]
fn check(kind: Kind, count: u64, bytes: u64) {
    let found = facts(&mut engine(), kind.clone()).unwrap();
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
    assert!(facts(&mut engine(), text("(", true)).is_err());
    assert!(facts(&mut engine(), Kind::StackOf(AllocationKey::Event(9))).is_err());
}

#[test]
fn every_row_of_a_table_leads_to_its_kind() {
    for by in GroupBy::ALL.iter().copied() {
        let mut engine = engine();
        let request = TableRequest {
            selection: SelectionData { scope: frontend::ask::ScopeData::At(4), ..SelectionData::default() },
            by: Some(by),
            count: 99,
            ..TableRequest::default()
        };
        let page = engine.answer(&GetRows { device: 0, request }).unwrap().unwrap();
        let TableRows::Groups(rows) = page.rows else { panic!("groups") };
        for row in rows {
            let found = facts(&mut engine, row.kind()).unwrap();
            assert_eq!((found.count, found.bytes), (row.count, row.bytes), "{by:?}: {}", row.title);
            assert_eq!(found.key, Some(row.key), "{by:?}: {}", row.title);
        }
    }
}

#[test]
fn every_site_of_a_flame_graph_leads_to_its_kind() {
    for is_line in [true, false] {
        let mut engine = engine();
        let selection = SelectionData { scope: frontend::ask::ScopeData::At(4), ..SelectionData::default() };
        let source = FlameSource { selection, by_line: is_line, with_runtime: true };
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
    let mut engine = engine();
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
    let mut engine = engine();
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
    let mut engine = engine();
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
