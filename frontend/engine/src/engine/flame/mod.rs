//! Answers questions about flame graphs: boxes of a range, all sites, and the largest allocation of a node.

pub(super) mod sites;

use self::sites::Search;
use super::allocations::shown_moment;
use super::hit::found_hit;
use super::ready::{KEPT_TREES, Ready};
use super::selection::{Selected, scope};
use frontend::ask::{
    FlameBoxData, FlameBoxKind, FlameBoxes, FlameShape, FlameSites, FlameSource, FlameTree, GetBoxes, GetLargest, Hit,
    SelectionData, SiteKey, SiteRow, SiteText,
};
use shared::analysis::{
    AllocationId, CallTree, Calls, Cut, CutContent, MergeBy, NodeOrder, PathConfig, Sandwich, Site, SiteTotal,
    TreeConfig, cut,
};
use shared::trace::{FrameId, StackId, Trace};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Number of columns of the graph; a box must be at least 1/4096 of the range wide, because no screen shows more.
const COLUMNS: f64 = 4096.0;

/// Lists all sites of some stacks; the error is a message about the filter's text, here and below.
pub(super) fn sites(ready: Ready<'_>, source: &FlameSource) -> Result<FlameSites, String> {
    let calls = calls(ready, source)?;
    let row = |row: &SiteTotal| SiteRow {
        site: sites::text(ready.trace, row.site, source.by_line),
        total: row.total,
        own: row.own,
    };
    Ok(FlameSites { rows: calls.by_site().iter().map(row).collect(), total: calls.total() })
}

/// Returns the boxes of a tree in a range that are wide enough to be seen.
pub(super) fn boxes(ready: Ready<'_>, ask: &GetBoxes) -> Result<FlameBoxes, String> {
    let (tree, calls) = (tree(ready, &ask.tree)?, calls(ready, &ask.tree.source)?);
    let search = Search::new(ready.trace, &ask.search);
    let mut words = Words::new(ready.trace, ask.tree.source.by_line, &search);
    let boxes = cut(&tree, ask.range, COLUMNS).iter().map(|cut| words.box_of(cut)).collect();
    let found = search.is_given().then(|| calls.matching(|site| search.finds(site)));
    let depth = tree.nodes().iter().map(|node| node.depth + 1).max().unwrap_or(0);
    Ok(FlameBoxes { boxes, sites: words.sites, depth, found })
}

/// Returns the largest allocation of a node, `None` if it has none.
pub(super) fn largest(ready: Ready<'_>, ask: &GetLargest) -> Result<Option<Hit>, String> {
    let tree = tree(ready, &ask.tree)?;
    if ask.node as usize >= tree.nodes().len() {
        return Ok(None);
    }
    let stacks: HashSet<StackId> = tree.stacks_of(ask.node).collect();
    let selection = &ask.tree.source.selection;
    let of_node = weighed(ready, selection)?.into_iter().filter(|&(_, stack, _)| {
        let stack = if stack.has_frames() { stack } else { StackId::NONE };
        stacks.contains(&stack)
    });
    let size = |id: AllocationId| ready.timeline.allocations.size_bytes_of(id);
    let largest = of_node.reduce(|best, next| if size(next.0) > size(best.0) { next } else { best });
    let scope = scope(ready, selection.scope);
    Ok(largest.map(|(id, ..)| found_hit(ready, id, shown_moment(ready, &scope, id))))
}

fn calls(ready: Ready<'_>, source: &FlameSource) -> Result<Rc<Calls>, String> {
    if let Some((device, kept, calls)) = &*ready.flames.calls.borrow()
        && (*device, kept) == (ready.device.index, source)
    {
        return Ok(calls.clone());
    }
    let merge = if source.by_line { MergeBy::Line } else { MergeBy::Function };
    let config = PathConfig { merge, folds_runtime: !source.with_runtime };
    let weighed = weighed(ready, &source.selection)?.into_iter();
    let calls = Rc::new(Calls::new(ready.trace, config, weighed.map(|(_, stack, weight)| (stack, weight))));
    ready.flames.calls.replace(Some((ready.device.index, source.clone(), calls.clone())));
    Ok(calls)
}

fn tree(ready: Ready<'_>, asked: &FlameTree) -> Result<Rc<CallTree>, String> {
    let device = ready.device.index;
    let is_asked = |(of, kept, _): &&(i64, FlameTree, Rc<CallTree>)| (*of, kept) == (device, asked);
    if let Some((_, _, tree)) = ready.flames.trees.borrow().iter().find(is_asked) {
        return Ok(tree.clone());
    }
    let tree = Rc::new(grow(&*calls(ready, &asked.source)?, asked));
    let mut trees = ready.flames.trees.borrow_mut();
    trees.truncate(KEPT_TREES - 1);
    trees.insert(0, (device, asked.clone(), tree.clone()));
    Ok(tree)
}

fn grow(calls: &Calls, asked: &FlameTree) -> CallTree {
    let order = if asked.by_appearance { NodeOrder::FirstSeen } else { NodeOrder::LargestFirst };
    let whole = |is_inverted| CallTree::new(calls, TreeConfig { order, is_inverted });
    match asked.shape {
        FlameShape::Whole => whole(false),
        FlameShape::Inverted => whole(true),
        FlameShape::Callers(key) => Sandwich::new(calls, site_of(key), order).callers,
        FlameShape::Callees(key) => Sandwich::new(calls, site_of(key), order).callees,
    }
}

fn site_of(key: SiteKey) -> Site {
    key.map_or(Site::NoStack, |frame| Site::Frame(FrameId::from_index(frame as usize)))
}

/// Sites in words, each listed once however many boxes it has.
struct Words<'a> {
    trace: &'a Trace,
    by_line: bool,
    search: &'a Search,
    sites: Vec<SiteText>,
    positions: HashMap<Site, u32>,
}

impl<'a> Words<'a> {
    fn new(trace: &'a Trace, by_line: bool, search: &'a Search) -> Self {
        Self { trace, by_line, search, sites: Vec::new(), positions: HashMap::new() }
    }

    fn box_of(&mut self, cut: &Cut) -> FlameBoxData {
        let kind = match cut.content {
            CutContent::Node(Site::All) => FlameBoxKind::All,
            CutContent::Node(site) => FlameBoxKind::Site(self.position(site)),
            CutContent::Merged(count) => FlameBoxKind::Merged(count),
        };
        let Cut { node, parent, depth, start, total, own, .. } = *cut;
        FlameBoxData { node, parent, depth, kind, start, total, own }
    }

    fn position(&mut self, site: Site) -> u32 {
        let Self { trace, by_line, search, sites, positions } = self;
        *positions.entry(site).or_insert_with(|| {
            sites.push(SiteText { is_match: search.finds(site), ..sites::text(trace, site, *by_line) });
            sites.len() as u32 - 1
        })
    }
}

/// Returns the allocations of a selection, each with its stack and its weight.
fn weighed(ready: Ready<'_>, selection: &SelectionData) -> Result<Vec<(AllocationId, StackId, u64)>, String> {
    let selected = Selected::new(ready, selection)?;
    let weigher = selected.weigher();
    let stack = |id| ready.timeline.allocations.allocation_stack(id, ready.device);
    Ok(selected.ids.iter().map(|&id| (id, stack(id), weigher.weigh(id))).collect())
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use frontend::ask::*;

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
        FlameSource { selection: SelectionData::at(moment), by_line: false, with_runtime: true }
    }

    fn tree(moment: u32) -> FlameTree {
        FlameTree { source: source(moment), shape: FlameShape::Whole, by_appearance: false }
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
        let mut engine = Engine::of(TRACE);
        let all = boxes(&mut engine, tree(3), "");
        assert_eq!(drawn(&all), ["all 105", "main 100", "- 5", "step 80", "load 20", "mm 50", "relu 30"]);
        assert_eq!((all.depth, all.found), (4, None));
        assert_eq!(drawn(&boxes(&mut engine, tree(5), ""))[..3], ["all 95", "main 80", "- 15"]);
    }

    #[test]
    fn the_same_allocations_have_many_shapes() {
        let mut engine = Engine::of(TRACE);
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
        let mut engine = Engine::of(TRACE);
        let found = boxes(&mut engine, tree(3), "STEP");
        assert_eq!(found.found, Some(Tally::default()), "capitals count");
        let found = boxes(&mut engine, tree(3), "main.py:1");
        assert_eq!(found.found.map(|found| found.weight), Some(100), "places are looked at too");
        let found = boxes(&mut engine, tree(3), "step");
        assert_eq!(found.found, Some(Tally { weight: 80, count: 2 }));
        let names: Vec<_> = found.sites.iter().filter(|site| site.is_match).map(|site| site.name.as_str()).collect();
        assert_eq!(names, ["step"]);
    }

    #[test]
    fn a_range_of_the_trace_counts_all_that_live_in_it() {
        let scope = ScopeData::Within { axis: Axis::Events, x0: 0.0, x1: 6.0, part: Part::Any };
        let within = |weight| SelectionData { scope, weight, ..SelectionData::default() };
        let total = |selection| {
            let source = FlameSource { selection, ..source(0) };
            boxes(&mut Engine::of(TRACE), FlameTree { source, ..tree(0) }, "").boxes[0].total
        };
        assert_eq!(total(within(Weight::Bytes)), Tally { weight: 115, count: 5 });
        assert_eq!(total(within(Weight::Count)).weight, 5);
        let byte_events = 30 * 5 + 20 * 2 + 50 * 3 + 10 + 5 * 6;
        assert_eq!(total(within(Weight::ByteEvents)).weight, byte_events);
    }

    #[test]
    fn sites_count_each_stack_once() {
        let FlameSites { rows, total } =
            Engine::of(TRACE).answer(&GetSites { device: 0, source: source(3) }).unwrap().expect("the filter is valid");
        let row = |name: &str| rows.iter().find(|row| row.site.name == name).expect("it is there");
        assert_eq!((row("main").total.weight, row("main").own.weight, row("mm").own.count), (100, 0, 1));
        assert_eq!(rows.iter().map(|row| row.own.weight).sum::<u64>(), total.weight);
    }

    #[test]
    fn the_largest_allocation_of_a_node_is_found() {
        let mut engine = Engine::of(TRACE);
        let all = boxes(&mut engine, tree(3), "");
        let node_of = |name: &str| {
            let is_named = |kind| matches!(kind, FlameBoxKind::Site(site) if all.sites[site as usize].name == name);
            all.boxes.iter().find(|found| is_named(found.kind)).expect("it is there").node
        };
        let mut largest = |node| {
            let hit =
                engine.answer(&GetLargest { device: 0, tree: tree(3), node }).unwrap().expect("the filter is valid");
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
            Engine::of(TRACE).answer(&GetBoxes { device: 0, tree, range: None, search: String::new() }).unwrap()
        };
        assert_eq!(drawn(&ask("re|load", true).expect("the filter is valid"))[0], "all 50");
        assert!(!ask("(", true).expect_err("the filter is not valid").is_empty());
    }
}
