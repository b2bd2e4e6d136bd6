//! Answers questions about flame graphs: boxes of a range, all sites, and the largest allocation of a node.

pub(super) mod sites;
#[cfg(test)]
mod tests;

use self::sites::{Search, tally};
use super::hit::found_hit;
use super::ready::{KEPT_TREES, Ready};
use super::selection::{Selected, scope};
use frontend::ask::{
    FlameBoxData, FlameBoxKind, FlameBoxes, FlameShape, FlameSites, FlameSource, FlameTree, Hit, SelectionData,
    SiteKey, SiteText,
};
use shared::analysis::{
    AllocationId, CallTree, Calls, Cut, CutContent, MergeBy, NodeOrder, PathConfig, Sandwich, Scope, Site, TreeConfig,
    cut,
};
use shared::trace::{FrameId, StackId, Trace};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Number of columns of the graph; a box must be at least 1/4096 of the range wide, because no screen shows more.
const COLUMNS: f64 = 4096.0;

/// Source of the flame graphs of one device.
#[derive(Clone, Copy)]
pub(super) struct Flame<'a> {
    pub(super) ready: Ready<'a>,
    pub(super) device: u32,
}

impl Flame<'_> {
    /// Lists all sites of some stacks.
    ///
    /// # Errors
    /// Returns an error message if the filter's text is not valid.
    pub(super) fn sites(self, source: &FlameSource) -> Result<FlameSites, String> {
        self.calls(source).map(|calls| sites::all(self.ready.trace, &calls, source.by_line))
    }

    /// Returns the boxes of a tree in a range that are wide enough to be seen.
    ///
    /// # Errors
    /// Returns an error message if the filter's text is not valid.
    pub(super) fn boxes(
        self,
        asked: &FlameTree,
        range: Option<(f64, f64)>,
        search: &str,
    ) -> Result<FlameBoxes, String> {
        let (trace, tree, calls) = (self.ready.trace, self.tree(asked)?, self.calls(&asked.source)?);
        let search = Search::new(trace, search);
        let mut words = Words::new(trace, asked.source.by_line, &search);
        let boxes = cut(&tree, range, COLUMNS).iter().map(|cut| words.box_of(cut)).collect();
        let found = search.is_given().then(|| calls.matching(|site| search.finds(site)));
        let depth = tree.nodes().iter().map(|node| node.depth + 1).max().unwrap_or(0);
        Ok(FlameBoxes { boxes, sites: words.sites, depth, found: found.map(tally) })
    }

    /// Returns the largest allocation of a node, `None` if it has none.
    ///
    /// # Errors
    /// Returns an error message if the filter's text is not valid.
    pub(super) fn largest(self, asked: &FlameTree, node: u32) -> Result<Option<Hit>, String> {
        let tree = self.tree(asked)?;
        if node as usize >= tree.nodes().len() {
            return Ok(None);
        }
        let stacks: HashSet<StackId> = tree.stacks_of(node).collect();
        let Ready { timeline, device, .. } = self.ready;
        let selection = &asked.source.selection;
        let of_node = weighed(self.ready, selection)?.into_iter().filter(|&(_, stack, _)| {
            let stack = if stack.has_frames() { stack } else { StackId::NONE };
            stacks.contains(&stack)
        });
        let size = |id: AllocationId| timeline.allocations.get(id, device).size_bytes;
        let largest = of_node.reduce(|best, next| if size(next.0) > size(best.0) { next } else { best });
        Ok(largest.map(|(id, ..)| found_hit(self.ready, id, moment(self.ready, selection, id))))
    }

    fn calls(self, source: &FlameSource) -> Result<Rc<Calls>, String> {
        if let Some((device, kept, calls)) = &*self.ready.flames.calls.borrow()
            && (*device, kept) == (self.device, source)
        {
            return Ok(calls.clone());
        }
        let merge = if source.by_line { MergeBy::Line } else { MergeBy::Function };
        let config = PathConfig { merge, folds_runtime: !source.with_runtime };
        let weighed = weighed(self.ready, &source.selection)?.into_iter();
        let calls = Rc::new(Calls::new(self.ready.trace, config, weighed.map(|(_, stack, weight)| (stack, weight))));
        self.ready.flames.calls.replace(Some((self.device, source.clone(), calls.clone())));
        Ok(calls)
    }

    fn tree(self, asked: &FlameTree) -> Result<Rc<CallTree>, String> {
        let is_asked = |(device, kept, _): &&(u32, FlameTree, Rc<CallTree>)| (*device, kept) == (self.device, asked);
        if let Some((_, _, tree)) = self.ready.flames.trees.borrow().iter().find(is_asked) {
            return Ok(tree.clone());
        }
        let tree = Rc::new(grow(&*self.calls(&asked.source)?, asked));
        let mut trees = self.ready.flames.trees.borrow_mut();
        trees.truncate(KEPT_TREES - 1);
        trees.insert(0, (self.device, asked.clone(), tree.clone()));
        Ok(tree)
    }
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
        FlameBoxData { node, parent, depth, kind, start, total: tally(total), own: tally(own) }
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
///
/// # Errors
/// Returns an error message if the filter's text is not valid.
pub(super) fn weighed(
    ready: Ready<'_>,
    selection: &SelectionData,
) -> Result<Vec<(AllocationId, StackId, u64)>, String> {
    let selected = Selected::new(ready, selection)?;
    let weigher = selected.weigher();
    let stack = |id| ready.timeline.allocations.allocation_stack(id, ready.device);
    Ok(selected.ids.iter().map(|&id| (id, stack(id), weigher.weigh(id))).collect())
}

/// Returns a moment of a selection at which an allocation is alive.
pub(super) fn moment(ready: Ready<'_>, selection: &SelectionData, id: AllocationId) -> u32 {
    match scope(ready, selection.scope) {
        Scope::At(moment) => moment,
        Scope::Within { moments, .. } => ready.timeline.allocations.get(id, ready.device).born.max(moments.start),
    }
}
