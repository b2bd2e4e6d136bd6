//! Selects the nodes of a tree that a range of weight shows: the boxes of a flame graph.

use super::calls::{Site, Tally};
use super::tree::{CallNode, CallTree};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutContent {
    Node(Site),
    /// Number of neighbours merged into the box, each too narrow to be seen.
    Merged(u32),
}

/// Box of a flame graph: a part of the tree that is wide enough to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Number of its first node in the tree.
    pub node: u32,
    /// Position of the parent among the boxes; the root is its own parent.
    pub parent: u32,
    /// Number of steps down from the root.
    pub depth: u32,
    pub content: CutContent,
    /// Sum of the weights to the left of the box.
    pub start: u64,
    /// Allocations of its nodes and their descendants.
    pub total: Tally,
    /// Allocations whose path ends at its node; none for merged nodes.
    pub own: Tally,
}

/// Returns the boxes that a range of weight shows, parents before children; `None` is the whole range.
///
/// The range is drawn in `columns` columns, and a box narrower than one column cannot be seen.
/// Neighbours that are each too narrow become one box if they can be seen together.
pub fn cut(tree: &CallTree, range: Option<(f64, f64)>, columns: f64) -> Vec<Cut> {
    let range = range.unwrap_or((0.0, tree.nodes()[0].total.weight as f64));
    let mut cutter = Cutter { tree, range, least: (range.1 - range.0) / columns, cuts: Vec::new() };
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

impl Cutter<'_> {
    fn push(&mut self, node: u32, parent: u32, found: &CallNode, start: u64) -> u32 {
        let content = CutContent::Node(found.site);
        let CallNode { depth, total, own, .. } = *found;
        self.cuts.push(Cut { node, parent, depth, content, start, total, own });
        self.cuts.len() as u32 - 1
    }

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
                match &mut run {
                    Some(Cut { content: CutContent::Merged(count), total, .. }) => {
                        *count += 1;
                        *total += found.total;
                    }
                    _ => {
                        let CallNode { depth, total, .. } = *found;
                        let (content, own) = (CutContent::Merged(1), Tally::default());
                        run = Some(Cut { node: child, parent, depth, content, start, total, own });
                    }
                }
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

    fn close(&mut self, run: Option<Cut>) {
        let least = self.least;
        self.cuts.extend(run.filter(|run| run.total.weight as f64 >= least));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::call_tree::{Calls, PathConfig, TreeConfig};
    use crate::trace::text;
    use std::fmt::Write;

    const COLUMNS: f64 = 4096.0;

    fn tree(source: &str) -> CallTree {
        let trace = text::parse(source).unwrap();
        let events = trace.devices[0].events.iter();
        let calls = Calls::new(&trace, PathConfig::default(), events.map(|event| (event.stack, event.size_bytes)));
        CallTree::new(&calls, TreeConfig::default())
    }

    /// Builds a tree with one function of 1,000,000 bytes and `many` functions of 10 bytes each.
    fn crowd(many: u32) -> CallTree {
        let mut source = "alloc big 1000000 @big<main\n".to_owned();
        (0..many).for_each(|index| writeln!(source, "alloc a{index} 10 @f{index}<main").unwrap());
        tree(&source)
    }

    #[test]
    fn boxes_lie_side_by_side_within_their_parents() {
        let cuts =
            cut(&tree("alloc a 30 @relu<step<main\nalloc b 20 @load<main\nalloc c 50 @mm<step<main"), None, COLUMNS);
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
        let cuts = cut(&tree, None, COLUMNS);
        let merged =
            cuts.iter().find(|cut| cut.content == CutContent::Merged(100)).expect("the small ones are one box");
        assert_eq!((merged.start, merged.total), (1_000_000, Tally { weight: 1000, count: 100 }));
        assert_eq!(cuts.len(), 4, "all, main, big, and the small ones");
        let inside = cut(&tree, Some((1_000_000.0, 1_001_000.0)), COLUMNS);
        assert_eq!(inside.iter().filter(|cut| cut.depth == 2).count(), 100, "each of them, and not big");
    }

    #[test]
    fn what_nobody_could_see_is_not_sent_but_for_the_root() {
        assert_eq!(cut(&crowd(10), None, COLUMNS).len(), 3, "a hundred bytes of a million are no column");
        assert_eq!(cut(&tree("free_requested a 0 @f"), None, COLUMNS).len(), 1);
    }
}
