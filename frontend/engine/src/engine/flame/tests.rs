//! Tests flame graphs with questions as the page asks them.

use crate::engine::Engine;
use frontend::ask::{
    Answers as _, Axis, FilterData, FlameBoxKind, FlameBoxes, FlameShape, FlameSites, FlameSource, FlameTally,
    FlameTree, GetBoxes, GetLargest, GetSites, Part, ScopeData, SelectionData, Weight,
};
use shared::trace::text;

const TRACE: &str = "
    alloc a 30 @relu<step<main
    alloc b 20 @load<main
    alloc c 50 @mm<step<main
    free_completed b 20
    alloc d 10
    segment s 2KiB
    block a 512 requested=30
    block c 512 requested=50
    block d 512 requested=10
    block w 512 requested=5
";

fn source(moment: u32) -> FlameSource {
    let selection = SelectionData { scope: ScopeData::At(moment), ..SelectionData::default() };
    FlameSource { selection, by_line: false, with_runtime: true }
}

fn tree(moment: u32) -> FlameTree {
    FlameTree { source: source(moment), shape: FlameShape::Whole, by_appearance: false }
}

fn engine() -> Engine {
    Engine::new(text::parse(TRACE).unwrap())
}

fn boxes(engine: &mut Engine, tree: FlameTree, search: &str) -> FlameBoxes {
    let ask = GetBoxes { device: 0, tree, range: None, search: search.to_owned() };
    engine.answer(&ask).unwrap().expect("the filter is valid")
}

/// Returns the name and weight of each box, by depth and then from left to right.
fn drawn(boxes: &FlameBoxes) -> Vec<String> {
    let name = |kind| match kind {
        FlameBoxKind::All => "all",
        FlameBoxKind::Site(site) => match boxes.sites[site as usize].name.as_str() {
            "" => "-",
            name => name,
        },
        FlameBoxKind::Merged(_) => "…",
    };
    let mut drawn: Vec<_> =
        boxes.boxes.iter().map(|found| (found.depth, found.start, name(found.kind), found.total.weight)).collect();
    drawn.sort_unstable();
    drawn.iter().map(|(_, _, name, weight)| format!("{name} {weight}")).collect()
}

#[test]
fn a_graph_is_of_what_is_alive() {
    let mut engine = engine();
    let all = boxes(&mut engine, tree(3), "");
    assert_eq!(drawn(&all), ["all 105", "main 100", "- 5", "step 80", "load 20", "mm 50", "relu 30"]);
    assert_eq!((all.depth, all.found), (4, None));
    assert_eq!(drawn(&boxes(&mut engine, tree(5), ""))[..3], ["all 95", "main 80", "- 15"]);
}

#[test]
fn the_same_allocations_have_many_shapes() {
    let mut engine = engine();
    let shaped = |shape| FlameTree { shape, ..tree(3) };
    let inverted = boxes(&mut engine, shaped(FlameShape::Inverted), "");
    assert_eq!(drawn(&inverted)[..5], ["all 105", "mm 50", "relu 30", "load 20", "- 5"]);
    let step = inverted.sites.iter().find(|site| site.name == "step").expect("it is there").key;
    assert_eq!(drawn(&boxes(&mut engine, shaped(FlameShape::Callees(step)), "")), ["step 80", "mm 50", "relu 30"]);
    assert_eq!(drawn(&boxes(&mut engine, shaped(FlameShape::Callers(step)), "")), ["step 80", "main 80"]);
    let in_order = FlameTree { by_appearance: true, ..tree(3) };
    assert_eq!(drawn(&boxes(&mut engine, in_order, ""))[1..3], ["- 5", "main 100"], "older memory comes first");
}

#[test]
fn a_search_says_how_much_it_finds() {
    let mut engine = engine();
    let found = boxes(&mut engine, tree(3), "STEP");
    assert_eq!(found.found, Some(FlameTally::default()), "capitals count");
    let found = boxes(&mut engine, tree(3), "main.py:1");
    assert_eq!(found.found.map(|found| found.weight), Some(100), "places are looked at too");
    let found = boxes(&mut engine, tree(3), "step");
    assert_eq!(found.found, Some(FlameTally { weight: 80, count: 2 }));
    let names: Vec<_> = found.sites.iter().filter(|site| site.is_match).map(|site| site.name.as_str()).collect();
    assert_eq!(names, ["step"]);
}

#[test]
fn a_range_of_the_trace_counts_all_that_live_in_it() {
    let scope = ScopeData::Within { axis: Axis::Events, x0: 0.0, x1: 6.0, part: Part::Any };
    let within = |weight| SelectionData { scope, weight, ..SelectionData::default() };
    let total = |selection| {
        let source = FlameSource { selection, ..source(0) };
        boxes(&mut engine(), FlameTree { source, ..tree(0) }, "").boxes[0].total
    };
    assert_eq!(total(within(Weight::Bytes)), FlameTally { weight: 115, count: 5 });
    assert_eq!(total(within(Weight::Count)).weight, 5);
    let byte_events = 30 * 5 + 20 * 2 + 50 * 3 + 10 + 5 * 6;
    assert_eq!(total(within(Weight::ByteEvents)).weight, byte_events);
}

#[test]
fn sites_count_each_stack_once() {
    let FlameSites { rows, total } =
        engine().answer(&GetSites { device: 0, source: source(3) }).unwrap().expect("the filter is valid");
    let row = |name: &str| rows.iter().find(|row| row.site.name == name).expect("it is there");
    assert_eq!((row("main").total.weight, row("main").own.weight, row("mm").own.count), (100, 0, 1));
    assert_eq!(rows.iter().map(|row| row.own.weight).sum::<u64>(), total.weight);
}

#[test]
fn the_largest_allocation_of_a_node_is_found() {
    let mut engine = engine();
    let all = boxes(&mut engine, tree(3), "");
    let node_of = |name: &str| {
        let is_named = |kind| matches!(kind, FlameBoxKind::Site(site) if all.sites[site as usize].name == name);
        all.boxes.iter().find(|found| is_named(found.kind)).expect("it is there").node
    };
    let mut largest = |node| {
        let hit = engine.answer(&GetLargest { device: 0, tree: tree(3), node }).unwrap().expect("the filter is valid");
        hit.and_then(|hit| hit.allocation.map(|found| (hit.moment, found.size_bytes)))
    };
    assert_eq!(largest(node_of("main")), Some((3, 50)));
    assert_eq!(largest(node_of("load")), Some((3, 20)));
    assert_eq!(largest(node_of("")), Some((3, 5)), "memory from before the trace too");
    assert_eq!(largest(99), None);
}

#[test]
fn a_graph_follows_the_filter() {
    let ask = |text: &str, is_expression| {
        let filter = FilterData { text: text.to_owned(), is_expression, ..FilterData::default() };
        let selection = SelectionData { filter, ..source(3).selection };
        let tree = FlameTree { source: FlameSource { selection, ..source(3) }, ..tree(3) };
        engine().answer(&GetBoxes { device: 0, tree, range: None, search: String::new() }).unwrap()
    };
    assert_eq!(drawn(&ask("re|load", true).expect("the filter is valid"))[0], "all 50");
    assert!(!ask("(", true).expect_err("the filter is not valid").is_empty());
}
