//! Merges paths with common beginnings into a tree, and builds trees of the callers and callees of one site.

use super::calls::{Calls, Site, Tally};
use crate::trace::StackId;
use std::cmp::Reverse;
use std::ops::Range;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NodeOrder {
    #[default]
    LargestFirst,
    FirstSeen,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TreeConfig {
    pub order: NodeOrder,
    /// True to begin with the innermost sites, so that callers stand below their callees.
    pub is_inverted: bool,
}

/// Node of a [`CallTree`]; its number is its position in [`CallTree::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallNode {
    pub site: Site,
    /// Number of the parent; the root is its own parent.
    pub parent: u32,
    /// Number after its last descendant.
    pub end: u32,
    /// Number of steps down from the root.
    pub depth: u32,
    /// Allocations of the node and of its descendants.
    pub total: Tally,
    /// Allocations whose path ends here.
    pub own: Tally,
}

/// Tree of calls, stored as its nodes in depth-first order.
///
/// Invariant: a node's first child, if it has one, is the next node, and its next sibling is node `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTree {
    nodes: Vec<CallNode>,
    /// Stacks, each with the node at which its path ends.
    leaves: Vec<(StackId, u32)>,
}

impl CallTree {
    /// Builds the tree of all paths below one root, [`Site::All`].
    pub fn new(calls: &Calls, config: TreeConfig) -> Self {
        if !config.is_inverted {
            return grow(Site::All, calls, config.order);
        }
        let mut inverted = Calls::default();
        for (stack, path, tally) in calls.paths() {
            inverted.push(stack, tally, path.iter().rev().copied());
        }
        grow(Site::All, &inverted, config.order)
    }

    pub fn nodes(&self) -> &[CallNode] {
        &self.nodes
    }

    /// Returns the numbers of a node's children in their order.
    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> {
        let end = self.nodes[node as usize].end;
        let next = move |child: u32| (child < end).then_some(child);
        std::iter::successors(next(node + 1), move |&child| next(self.nodes[child as usize].end))
    }

    pub fn subtree(&self, node: u32) -> Range<u32> {
        node..self.nodes[node as usize].end
    }

    /// Returns the stacks whose allocations a node's total counts.
    pub fn stacks_of(&self, node: u32) -> impl Iterator<Item = StackId> {
        let within = self.subtree(node);
        self.leaves.iter().filter(move |(_, leaf)| within.contains(leaf)).map(|&(stack, _)| stack)
    }
}

/// Builds the tree of paths below a root.
///
/// Each sorted path shares its beginning with the path before it, so that no node has to be looked up.
fn grow(root: Site, below: &Calls, order: NodeOrder) -> CallTree {
    let rows = below.rows();
    let mut sorted: Vec<usize> = (0..rows.len()).collect();
    sorted.sort_unstable_by(|&a, &b| below.path(a).cmp(below.path(b)));
    let mut growth = Growth::new(root, rows.len());
    let mut before: &[Site] = &[];
    for row in sorted {
        let path = below.path(row);
        let common = path.iter().zip(before).take_while(|(site, other)| site == other).count();
        growth.add(row as u32, common, &path[common..], rows[row]);
        before = path;
    }
    growth.finish(order)
}

/// Tree to which sorted paths are being added, with its nodes in depth-first order.
struct Growth {
    nodes: Vec<Growing>,
    leaves: Vec<(StackId, u32)>,
    /// Nodes of the path added last, the root first.
    trail: Vec<u32>,
}

struct Growing {
    site: Site,
    parent: u32,
    /// First row whose path contains the node.
    first: u32,
    own: Tally,
    total: Tally,
}

impl Growth {
    fn new(root: Site, paths: usize) -> Self {
        let root = Growing { site: root, parent: 0, first: 0, own: Tally::default(), total: Tally::default() };
        Self { nodes: vec![root], leaves: vec![(StackId::NONE, 0); paths], trail: vec![0] }
    }

    /// Adds a path whose first `common` sites are those of the path before it, followed by `rest`.
    fn add(&mut self, row: u32, common: usize, rest: &[Site], (stack, tally): (StackId, Tally)) {
        self.trail.truncate(common + 1);
        for &site in rest {
            let parent = self.trail[self.trail.len() - 1];
            self.trail.push(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
            self.nodes.push(Growing { site, parent, first: row, own: Tally::default(), total: Tally::default() });
        }
        let node = self.trail[self.trail.len() - 1];
        let leaf = &mut self.nodes[node as usize];
        leaf.own += tally;
        leaf.first = leaf.first.min(row);
        self.leaves[row as usize] = (stack, node);
    }

    fn finish(mut self, order: NodeOrder) -> CallTree {
        self.sum_up();
        let children = self.children(order);
        let (mut nodes, mut place) = (Vec::with_capacity(self.nodes.len()), vec![0; self.nodes.len()]);
        // Recursion could overflow the stack on a deep tree, so the nodes to visit are kept here, the next one last.
        let mut ahead = vec![(0_u32, 0_u32)];
        while let Some((node, depth)) = ahead.pop() {
            let Growing { site, parent, own, total, .. } = self.nodes[node as usize];
            place[node as usize] = nodes.len() as u32;
            nodes.push(CallNode { site, parent: place[parent as usize], end: 0, depth, total, own });
            ahead.extend(children[node as usize].iter().rev().map(|&child| (child, depth + 1)));
        }
        set_ends(&mut nodes);
        let leaves = self.leaves.iter().map(|&(stack, node)| (stack, place[node as usize])).collect();
        CallTree { nodes, leaves }
    }

    /// Adds the totals of all nodes to those of their parents.
    ///
    /// Children come after their parents, so that one pass from the end suffices.
    fn sum_up(&mut self) {
        for node in (0..self.nodes.len()).rev() {
            let own = self.nodes[node].own;
            self.nodes[node].total += own;
            let Growing { total, first, parent, .. } = self.nodes[node];
            if node > 0 {
                let parent = &mut self.nodes[parent as usize];
                parent.total += total;
                parent.first = parent.first.min(first);
            }
        }
    }

    fn children(&self, order: NodeOrder) -> Vec<Vec<u32>> {
        let mut children = vec![Vec::new(); self.nodes.len()];
        for (child, node) in (0..).zip(&self.nodes).skip(1) {
            children[node.parent as usize].push(child);
        }
        for group in &mut children {
            group.sort_unstable_by_key(|&child: &u32| {
                let Growing { total, first, .. } = self.nodes[child as usize];
                let size = if order == NodeOrder::LargestFirst { (total.weight, total.count) } else { (0, 0) };
                (Reverse(size), first)
            });
        }
        children
    }
}

/// Sets the end of each node to that of its last descendant, which comes after it.
fn set_ends(nodes: &mut [CallNode]) {
    for node in (0..nodes.len()).rev() {
        nodes[node].end = nodes[node].end.max(node as u32 + 1);
        let (end, parent) = (nodes[node].end, nodes[node].parent as usize);
        nodes[parent].end = nodes[parent].end.max(end);
    }
}

/// Callers and callees of a site, which is the root of both trees.
///
/// A stack in which the site calls itself counts once, at its outermost call: the callers are those of that call, and
/// the recursive calls are among the callees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandwich {
    /// Callers, each below the site that it calls.
    pub callers: CallTree,
    pub callees: CallTree,
}

impl Sandwich {
    /// Builds the trees of a site; both have only the root if the site is in no stack.
    pub fn new(calls: &Calls, site: Site, order: NodeOrder) -> Self {
        let (mut callers, mut callees) = (Calls::default(), Calls::default());
        for (stack, path, tally) in calls.paths() {
            let Some(position) = path.iter().position(|&other| other == site) else { continue };
            callers.push(stack, tally, path[..position].iter().rev().copied());
            callees.push(stack, tally, path[position + 1..].iter().copied());
        }
        Self { callers: grow(site, &callers, order), callees: grow(site, &callees, order) }
    }
}
