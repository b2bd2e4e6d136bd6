//! Tests tables of allocations: pages, orders, groups, and walks from one allocation to the next.

use super::*;
use crate::engine::Engine;
use frontend::ask::{Answers as _, FilterData, FindGroup, GetFacts, GetRows, GroupBy, MixedRow, NameMark, WalkTo};

const TRACE: &str = "
    alloc a 100 @relu<main
    alloc b 50 @norm<main
    free b
    alloc c 300 @relu<main
    alloc d 200
    free a
    segment S 2KiB
    block old 512 requested=7 @init
";

fn rows(engine: &mut Engine, request: &TableRequest) -> TablePage {
    engine.answer(&GetRows { device: 0, request: request.clone() }).unwrap().expect("the filter is valid")
}

fn request(column: Column, is_rising: bool) -> TableRequest {
    TableRequest {
        selection: SelectionData::whole(),
        sort: Sort { column, is_rising },
        count: 10,
        ..TableRequest::default()
    }
}

/// Returns the sizes of the rows, in their order.
fn sizes(page: &TablePage) -> Vec<u64> {
    match &page.rows {
        TableRows::Allocations(rows) => rows.iter().map(|row| row.size_bytes).collect(),
        TableRows::Groups(rows) => rows.iter().map(size_of_row).collect(),
    }
}

/// Returns the groups of a table in which none is open.
fn groups_of(page: &TablePage) -> Vec<GroupRow> {
    let TableRows::Groups(rows) = &page.rows else { panic!("groups were asked for") };
    let group = |row: &MixedRow| match row {
        MixedRow::Group(row, false) => row.clone(),
        other => panic!("{other:?} is open"),
    };
    rows.iter().map(group).collect()
}

fn size_of_row(row: &MixedRow) -> u64 {
    match row {
        MixedRow::Group(row, _) => row.bytes,
        MixedRow::Allocation(row) => row.size_bytes,
    }
}

#[track_caller]
fn check_order(column: Column, rising: &[u64], falling: &[u64]) {
    let mut engine = Engine::of(TRACE);
    assert_eq!(sizes(&rows(&mut engine, &request(column, true))), rising, "{column:?} rising");
    assert_eq!(sizes(&rows(&mut engine, &request(column, false))), falling, "{column:?} falling");
}

#[test]
fn every_column_sorts_both_ways() {
    check_order(Column::Bytes, &[7, 50, 100, 200, 300], &[300, 200, 100, 50, 7]);
    check_order(Column::Born, &[7, 100, 50, 300, 200], &[200, 300, 50, 100, 7]);
    check_order(Column::Lifetime, &[50, 200, 300, 100, 7], &[7, 100, 300, 200, 50]);
    check_order(Column::Title, &[7, 200, 50, 100, 300], &[100, 300, 50, 200, 7]);
    // Allocations without a fact come first.
    check_order(Column::Died, &[50, 100, 7, 300, 200], &[7, 300, 200, 100, 50]);
    check_order(Column::Rounded, &[7, 100, 50, 300, 200], &[7, 100, 50, 300, 200]);
    check_order(Column::Step, &[7, 100, 50, 300, 200], &[7, 100, 50, 300, 200]);
}

#[test]
fn an_open_group_is_followed_by_its_allocations() {
    let mut engine = Engine::of(TRACE);
    let closed = TableRequest { by: Some(GroupBy::Stack), ..request(Column::Bytes, false) };
    let groups = rows(&mut engine, &closed);
    assert_eq!(sizes(&groups), [400, 200, 50, 7]);
    let open = TableRequest { open: vec![groups_of(&groups)[0].key], ..closed.clone() };
    let page = rows(&mut engine, &open);
    assert_eq!((sizes(&page), page.row_count), (vec![400, 300, 100, 200, 50, 7], 6));
    let part = rows(&mut engine, &TableRequest { first: 2, count: 2, ..open });
    assert_eq!((sizes(&part), part.row_count), (vec![100, 200], 6));
    assert_eq!(sizes(&rows(&mut engine, &closed)), [400, 200, 50, 7], "it closes again");
}

#[test]
fn a_page_is_a_part_of_the_table() {
    let mut engine = Engine::of(TRACE);
    let all = rows(&mut engine, &request(Column::Bytes, false));
    assert_eq!((all.row_count, all.bytes, all.count, all.all_count, all.most_bytes), (5, 657, 5, 5, 300));
    let part = TableRequest { first: 1, count: 2, ..request(Column::Bytes, false) };
    assert_eq!(sizes(&rows(&mut engine, &part)), [200, 100]);
    let beyond = TableRequest { first: 9, count: u32::MAX, ..part };
    assert!(sizes(&rows(&mut engine, &beyond)).is_empty());
}

#[test]
fn totals_follow_the_filter() {
    let filter = FilterData { text: "relu".to_owned(), ..FilterData::default() };
    let selection = SelectionData { filter, ..SelectionData::whole() };
    let page = rows(&mut Engine::of(TRACE), &TableRequest { selection, ..request(Column::Bytes, false) });
    assert_eq!((page.row_count, page.bytes, page.count, page.all_count), (2, 400, 2, 5));
}

#[test]
fn groups_lead_to_their_allocations() {
    let mut engine = Engine::of(TRACE);
    let request = request(Column::Count, false);
    let by_stack = rows(&mut engine, &TableRequest { by: Some(GroupBy::Stack), ..request.clone() });
    let groups = groups_of(&by_stack);
    let titles: Vec<_> = groups.iter().map(|row| (row.title.as_str(), row.count)).collect();
    assert_eq!(titles[0], ("relu (main.py:1)", 2));
    assert_eq!((by_stack.row_count, by_stack.most_bytes, by_stack.bytes), (4, 400, 657));
    let filter = FilterData { group: Some(groups[0].key), ..FilterData::default() };
    let selection = SelectionData { filter, ..SelectionData::whole() };
    assert_eq!(sizes(&rows(&mut engine, &TableRequest { selection, by: None, ..request })), [300, 100]);
}

#[test]
fn rows_know_their_lifetimes() {
    let TableRows::Allocations(rows) = rows(&mut Engine::of(TRACE), &request(Column::Born, true)).rows else {
        panic!("allocations were asked for")
    };
    let facts: Vec<_> = rows.iter().map(|row| (row.born, row.lifetime, row.outlives)).collect();
    // b is freed by two events; the last moment is the eighth.
    assert_eq!(facts, [(0, 9, true), (1, 7, false), (2, 2, false), (5, 4, true), (6, 3, true)]);
}

#[test]
fn a_mark_leads_to_its_group_in_another_copy() {
    let mut engine = Engine::of(TRACE);
    // Stacks and frames have different numbers if others come before them.
    let mut copy = Engine::of(&format!("alloc z 1 @first<other\nfree z\n{TRACE}"));
    for by in GroupBy::ALL {
        let page = rows(&mut engine, &TableRequest { by: Some(by), ..request(Column::Bytes, false) });
        for group in groups_of(&page) {
            let asked = FindGroup { device: 0, group: GroupMark { by, mark: group.mark } };
            let found = copy.answer(&asked).unwrap();
            assert_eq!(found.map(|(_, title)| title).as_ref(), Some(&group.title), "{by:?}");
        }
    }
    let nothing = GroupMark { by: GroupBy::Stack, mark: NameMark::of(["nothing"]) };
    assert_eq!(engine.answer(&FindGroup { device: 0, group: nothing }), Ok(None));
}

fn walk_to(engine: &mut Engine, selection: &SelectionData, to: Walk) -> Option<(u64, u32, u32, u32)> {
    let request = WalkRequest { selection: selection.clone(), to };
    let found = engine.answer(&WalkTo { device: 0, request }).unwrap().expect("the filter is valid")?;
    let size_bytes = found.hit.allocation.map_or(0, |allocation| allocation.size_bytes);
    Some((size_bytes, found.hit.moment, found.position, found.count))
}

#[test]
fn a_walk_goes_round_in_the_order_of_births() {
    let mut engine = Engine::of(TRACE);
    let filter = FilterData { min_bytes: 100, ..FilterData::default() };
    let selection = SelectionData { filter, ..SelectionData::whole() };
    let mut walk = |to| walk_to(&mut engine, &selection, to);
    assert_eq!(walk(Walk::First), Some((100, 1, 0, 3)));
    assert_eq!(walk(Walk::After(1)), Some((300, 5, 1, 3)));
    assert_eq!(walk(Walk::After(4)), Some((100, 1, 0, 3)));
    assert_eq!(walk(Walk::Before(3)), Some((100, 1, 0, 3)));
    assert_eq!(walk(Walk::Before(1)), Some((200, 6, 2, 3)));
    assert_eq!(walk(Walk::This(2)), Some((50, 2, 1, 3)));
    assert_eq!(walk(Walk::This(99)), None);
}

#[test]
fn a_walk_at_a_moment_stays_there() {
    let mut engine = Engine::of(TRACE);
    let selection = SelectionData::at(6);
    rows(&mut engine, &TableRequest { selection: selection.clone(), count: 1, ..TableRequest::default() });
    assert_eq!(walk_to(&mut engine, &selection, Walk::After(1)), Some((300, 6, 2, 4)));
    let nothing = FilterData { min_bytes: 1 << 40, ..FilterData::default() };
    let selection = SelectionData { filter: nothing, ..selection };
    assert_eq!(walk_to(&mut engine, &selection, Walk::First), None);
    assert_eq!(walk_to(&mut engine, &selection, Walk::Before(3)), None);
}

#[test]
fn a_text_that_can_not_be_read_is_said_to_be_so() {
    let filter = FilterData { text: "(".to_owned(), is_expression: true, ..FilterData::default() };
    let selection = SelectionData { filter, ..SelectionData::whole() };
    let request = TableRequest { selection, ..TableRequest::default() };
    let message =
        Engine::of(TRACE).answer(&GetRows { device: 0, request }).unwrap().expect_err("the filter is not valid");
    assert!(message.starts_with("invalid regular expression"), "{message}");
}

#[test]
fn a_device_tells_its_streams_and_pools() {
    let mut engine = Engine::of("alloc a 1 stream=7\nalloc b 1\nsegment S 1KiB stream=9\nblock old 512");
    let facts = engine.answer(&GetFacts { device: 0 }).unwrap();
    assert_eq!((facts.streams, facts.pools), (vec![0, 7, 9], vec![]));
}
