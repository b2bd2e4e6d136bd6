//! One site between what calls it and what it calls.

use super::calls::Calls;
use super::paths::Site;
use super::tree::{Below, CallTree, NodeOrder};

/// The callers and the callees of a site, which is the root of both trees.
///
/// A stack in which the site calls itself counts once, at its outermost call: callers are those of the first call, and
/// the calls of itself are among the callees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandwich {
    /// What calls it, each caller below what it calls.
    pub callers: CallTree,
    /// What it calls.
    pub callees: CallTree,
}

impl Sandwich {
    /// The trees of a site; both are empty but for the root where it is in no stack.
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
