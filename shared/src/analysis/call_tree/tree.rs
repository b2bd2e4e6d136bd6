//! The tree that paths have in common.

use super::calls::{Calls, Tally};
use super::paths::Site;
use crate::trace::StackId;
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::ops::Range;

/// Which of two siblings comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NodeOrder {
    /// The one with the larger total.
    #[default]
    LargestFirst,
    /// The one that allocated first.
    FirstSeen,
}

/// How a [`CallTree`] is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TreeConfig {
    /// Which of two siblings comes first.
    pub order: NodeOrder,
    /// Whether the innermost sites are the roots, so that callers stand below what they call.
    pub is_inverted: bool,
}

/// A node of a [`CallTree`]; its place in [`CallTree::nodes`] is its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallNode {
    /// What it stands for.
    pub site: Site,
    /// The number of the node above; the root's own.
    pub parent: u32,
    /// The number after its last descendant.
    pub end: u32,
    /// Steps down from the root.
    pub depth: u32,
    /// The allocations of the node and of all below it.
    pub total: Tally,
    /// Those whose path ends here.
    pub own: Tally,
}

/// Nodes in the order of a walk that goes down first: a node's first child is the next one, its next sibling is `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTree {
    nodes: Vec<CallNode>,
    /// The stacks, with the node at which each path ends.
    leaves: Vec<(StackId, u32)>,
}

impl CallTree {
    /// The tree of all paths below one root, [`Site::All`].
    pub fn new(calls: &Calls, config: TreeConfig) -> Self {
        let mut growth = Growth::new(Site::All);
        for (row, path, tally) in calls.paths() {
            let stack = calls.stack(row);
            match config.is_inverted {
                false => growth.add(stack, path.iter().copied(), tally),
                true => growth.add(stack, path.iter().rev().copied(), tally),
            }
        }
        growth.finish(config.order)
    }

    /// All nodes, the root first.
    pub fn nodes(&self) -> &[CallNode] {
        &self.nodes
    }

    /// The numbers of a node's children in their order.
    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> {
        let end = self.nodes[node as usize].end;
        let next = move |child: u32| (child < end).then_some(child);
        std::iter::successors(next(node + 1), move |&child| next(self.nodes[child as usize].end))
    }

    /// The numbers of a node and of all below it.
    pub fn subtree(&self, node: u32) -> Range<u32> {
        node..self.nodes[node as usize].end
    }

    /// The stacks whose allocations a node's total counts.
    pub fn stacks_of(&self, node: u32) -> impl Iterator<Item = StackId> {
        let within = self.subtree(node);
        self.leaves.iter().filter(move |(_, leaf)| within.contains(leaf)).map(|&(stack, _)| stack)
    }
}

/// A tree while paths are added; nodes stand in order of first appearance.
pub(super) struct Growth {
    nodes: Vec<Growing>,
    index: HashMap<(u32, Site), u32>,
    leaves: Vec<(StackId, u32)>,
    /// The nodes of the path that was added last, the root first.
    trail: Vec<u32>,
}

struct Growing {
    site: Site,
    parent: u32,
    own: Tally,
    total: Tally,
}

impl Growth {
    pub(super) fn new(root: Site) -> Self {
        let root = Growing { site: root, parent: 0, own: Tally::default(), total: Tally::default() };
        Self { nodes: vec![root], index: HashMap::new(), leaves: Vec::new(), trail: vec![0] }
    }

    /// Adds a path that begins below the root.
    pub(super) fn add(&mut self, stack: StackId, path: impl Iterator<Item = Site>, tally: Tally) {
        let (mut node, mut depth) = (0, 1);
        for site in path {
            match self.trail.get(depth) {
                // Neighbours have most of their paths in common.
                Some(&next) if self.nodes[next as usize].site == site => node = next,
                _ => {
                    self.trail.truncate(depth);
                    node = self.child(node, site);
                    self.trail.push(node);
                }
            }
            depth += 1;
        }
        self.trail.truncate(depth);
        self.nodes[node as usize].own += tally;
        self.leaves.push((stack, node));
    }

    fn child(&mut self, parent: u32, site: Site) -> u32 {
        let next = u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes");
        *self.index.entry((parent, site)).or_insert_with(|| {
            self.nodes.push(Growing { site, parent, own: Tally::default(), total: Tally::default() });
            next
        })
    }

    pub(super) fn finish(mut self, order: NodeOrder) -> CallTree {
        self.sum_up();
        let children = self.children(order);
        let (mut nodes, mut place) = (Vec::with_capacity(self.nodes.len()), vec![0; self.nodes.len()]);
        // Deep stacks would overflow ours: the nodes to visit are kept here, the next one last.
        let mut ahead = vec![(0_u32, 0_u32)];
        while let Some((node, depth)) = ahead.pop() {
            let Growing { site, parent, own, total } = self.nodes[node as usize];
            place[node as usize] = nodes.len() as u32;
            nodes.push(CallNode { site, parent: place[parent as usize], end: 0, depth, total, own });
            ahead.extend(children.of(node).iter().rev().map(|&child| (child, depth + 1)));
        }
        set_ends(&mut nodes);
        let leaves = self.leaves.iter().map(|&(stack, node)| (stack, place[node as usize])).collect();
        CallTree { nodes, leaves }
    }

    /// Children come after their parents, so that one pass from the end adds up everything.
    fn sum_up(&mut self) {
        for node in (0..self.nodes.len()).rev() {
            let own = self.nodes[node].own;
            self.nodes[node].total += own;
            let (total, parent) = (self.nodes[node].total, self.nodes[node].parent as usize);
            if node > 0 {
                self.nodes[parent].total += total;
            }
        }
    }

    fn children(&self, order: NodeOrder) -> Children {
        let mut all: Vec<u32> = (1..self.nodes.len() as u32).collect();
        let node = |child: u32| &self.nodes[child as usize];
        match order {
            NodeOrder::FirstSeen => all.sort_by_key(|&child| node(child).parent),
            NodeOrder::LargestFirst => {
                let size = |total: Tally| Reverse((total.weight, total.count));
                all.sort_by_key(|&child| (node(child).parent, size(node(child).total)));
            }
        }
        let mut starts = vec![0; self.nodes.len() + 1];
        all.iter().for_each(|&child| starts[node(child).parent as usize + 1] += 1);
        (1..starts.len()).for_each(|index| starts[index] += starts[index - 1]);
        Children { all, starts }
    }
}

/// The children of all nodes, side by side.
struct Children {
    all: Vec<u32>,
    starts: Vec<usize>,
}

impl Children {
    fn of(&self, node: u32) -> &[u32] {
        &self.all[self.starts[node as usize]..self.starts[node as usize + 1]]
    }
}

/// A node ends where its last descendant does, which stands after it.
fn set_ends(nodes: &mut [CallNode]) {
    for node in (0..nodes.len()).rev() {
        nodes[node].end = nodes[node].end.max(node as u32 + 1);
        let (end, parent) = (nodes[node].end, nodes[node].parent as usize);
        nodes[parent].end = nodes[parent].end.max(end);
    }
}
