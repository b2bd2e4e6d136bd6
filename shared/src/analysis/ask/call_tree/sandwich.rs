//! Builds the trees of the callers and of the callees of one site.

use super::calls::Calls;
use super::paths::Site;
use super::tree::{Below, CallTree, NodeOrder};

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
        let (mut callers, mut callees) = (Below::new(site), Below::new(site));
        for (row, path, tally) in calls.paths() {
            let Some(position) = path.iter().position(|&other| other == site) else { continue };
            callers.add(calls.stack(row), path[..position].iter().rev().copied(), tally);
            callees.add(calls.stack(row), path[position + 1..].iter().copied(), tally);
        }
        Self { callers: callers.grow(order), callees: callees.grow(order) }
    }
}
