//! Defines what the engine keeps about areas and about the selected kind.

use frontend::ask::{AreaBy, Kind, NameMark};
use shared::analysis::{Areas, GroupKey, Members};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Areas by each property, computed at first use.
pub(super) type AreaCache = [OnceCell<Areas>; AreaBy::ALL.len()];

/// Most recent kind, which pictures, totals and steps ask for again and again.
pub(super) type KindCache = RefCell<Option<(Kind, Rc<Selected>)>>;

/// Allocations of a kind.
#[derive(Debug)]
pub(super) struct Selected {
    pub(super) members: Members,
    pub(super) title: String,
    pub(super) detail: String,
    pub(super) key: Option<GroupKey>,
    /// Mark of the group in addresses.
    pub(super) mark: Option<NameMark>,
}
