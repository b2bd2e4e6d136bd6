//! The nodes of a tree that a range of weight shows.

use crate::worker::FlameTally;
use shared::analysis::{CallNode, CallTree, Site, Tally};

/// The narrowest box, as a share of the range: no screen shows more columns.
const COLUMNS: f64 = 4096.0;

/// What a box is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// One node of this site.
    Node(Site),
    /// So many neighbours, each too small to be seen.
    Merged(u32),
}

/// A part of the tree that is wide enough to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The number of its first node.
    pub(super) node: u32,
    /// The position of the box above it; the root's own.
    pub(super) parent: u32,
    pub(super) depth: u32,
    pub(super) content: Content,
    /// The weight to the left of it.
    pub(super) start: u64,
    pub(super) total: FlameTally,
    pub(super) own: FlameTally,
}

/// The parts of a tree that a range shows, parents before their parts; `None` is the range of all.
///
/// Neighbours that are too small each are one box where they can be seen together.
pub(super) fn cut(tree: &CallTree, range: Option<(f64, f64)>) -> Vec<Cut> {
    let mut cutter = Cutter::new(tree, range);
    let root = &tree.nodes()[0];
    let mut ahead = vec![(0, cutter.push(0, 0, root, 0))];
    while let Some((node, position)) = ahead.pop() {
        cutter.children(node, position, &mut ahead);
    }
    cutter.cuts
}

struct Cutter<'a> {
    tree: &'a CallTree,
    range: (f64, f64),
    least: f64,
    cuts: Vec<Cut>,
}

impl<'a> Cutter<'a> {
    fn new(tree: &'a CallTree, range: Option<(f64, f64)>) -> Self {
        let range = range.unwrap_or((0.0, tree.nodes()[0].total.weight as f64));
        Self { tree, range, least: (range.1 - range.0) / COLUMNS, cuts: Vec::new() }
    }

    fn push(&mut self, node: u32, parent: u32, found: &CallNode, start: u64) -> u32 {
        let content = Content::Node(found.site);
        let (total, own) = (tally(found.total), tally(found.own));
        self.cuts.push(Cut { node, parent, depth: found.depth, content, start, total, own });
        self.cuts.len() as u32 - 1
    }

    /// Adds the boxes right below one.
    fn children(&mut self, node: u32, parent: u32, ahead: &mut Vec<(u32, u32)>) {
        let mut start = self.cuts[parent as usize].start;
        let mut run: Option<Cut> = None;
        for child in self.tree.children(node) {
            let found = &self.tree.nodes()[child as usize];
            let end = start + found.total.weight;
            let is_shown = found.total.weight > 0 && self.shows(start, end);
            if is_shown && found.total.weight as f64 >= self.least {
                self.close(run.take());
                ahead.push((child, self.push(child, parent, found, start)));
            } else if is_shown {
                run = Some(longer(run, Cut { parent, ..self.small(child, found, start) }));
            } else {
                self.close(run.take());
            }
            start = end;
        }
        self.close(run);
    }

    fn shows(&self, start: u64, end: u64) -> bool {
        (start as f64) < self.range.1 && (end as f64) > self.range.0
    }

    fn small(&self, node: u32, found: &CallNode, start: u64) -> Cut {
        let (total, own) = (tally(found.total), FlameTally::default());
        Cut { node, parent: 0, depth: found.depth, content: Content::Merged(1), start, total, own }
    }

    fn close(&mut self, run: Option<Cut>) {
        let least = self.least;
        self.cuts.extend(run.filter(|run| run.total.weight as f64 >= least));
    }
}

/// A run of small neighbours with one more.
fn longer(run: Option<Cut>, next: Cut) -> Cut {
    let Some(run) = run else { return next };
    let count = match run.content {
        Content::Merged(count) => count + 1,
        Content::Node(_) => 1,
    };
    let total = FlameTally { weight: run.total.weight + next.total.weight, count: run.total.count + next.total.count };
    Cut { content: Content::Merged(count), total, ..run }
}

pub(super) fn tally(tally: Tally) -> FlameTally {
    FlameTally { weight: tally.weight, count: tally.count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::{Calls, PathConfig, TreeConfig};
    use shared::trace::text;
    use std::fmt::Write;

    fn tree(source: &str) -> CallTree {
        let trace = text::parse(source).unwrap();
        let events = trace.devices[0].events.iter();
        let calls = Calls::new(&trace, PathConfig::default(), events.map(|event| (event.stack, event.size_bytes)));
        CallTree::new(&calls, TreeConfig::default())
    }

    /// One function that holds nearly all, and many that hold next to nothing.
    fn crowd(many: u32) -> CallTree {
        let mut source = "alloc big 1000000 @big<main\n".to_owned();
        (0..many).for_each(|index| writeln!(source, "alloc a{index} 10 @f{index}<main").unwrap());
        tree(&source)
    }

    #[test]
    fn boxes_lie_side_by_side_within_their_parents() {
        let cuts = cut(&tree("alloc a 30 @relu<step<main\nalloc b 20 @load<main\nalloc c 50 @mm<step<main"), None);
        let boxes: Vec<_> = cuts.iter().map(|cut| (cut.depth, cut.start, cut.total.weight)).collect();
        assert_eq!(boxes.len(), 6);
        for of in [(0, 0, 100), (1, 0, 100), (2, 0, 80), (2, 80, 20), (3, 0, 50), (3, 50, 30)] {
            assert!(boxes.contains(&of), "{of:?} in {boxes:?}");
        }
        for cut in &cuts {
            let parent = &cuts[cut.parent as usize];
            assert!(parent.start <= cut.start && cut.start + cut.total.weight <= parent.start + parent.total.weight);
        }
    }

    #[test]
    fn a_crowd_is_one_box_that_can_be_zoomed_into() {
        let tree = crowd(100);
        let cuts = cut(&tree, None);
        let merged = cuts.iter().find(|cut| cut.content == Content::Merged(100)).expect("the small ones are one box");
        assert_eq!((merged.start, merged.total), (1_000_000, FlameTally { weight: 1000, count: 100 }));
        assert_eq!(cuts.len(), 4, "all, main, big, and the small ones");
        let inside = cut(&tree, Some((1_000_000.0, 1_001_000.0)));
        assert_eq!(inside.iter().filter(|cut| cut.depth == 2).count(), 100, "each of them, and not big");
    }

    #[test]
    fn what_nobody_could_see_is_not_sent() {
        assert_eq!(cut(&crowd(10), None).len(), 3, "a hundred bytes of a million are no column");
    }

    #[test]
    fn without_weight_there_is_the_root() {
        assert_eq!(cut(&tree("free_requested a 0 @f"), None).len(), 1);
    }
}
