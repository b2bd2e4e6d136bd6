//! Defines the message form of selections: the scopes, filters and groups of `shared::analysis`.

use super::name_mark::NameMark;
use serde::{Deserialize, Serialize};
use shared::analysis::{Axis, Category, GroupBy, Part, Weight};
use shared::trace::PoolId;

/// Allocations that a view shows, and how they are weighed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectionData {
    pub scope: ScopeData,
    pub filter: FilterData,
    pub weight: Weight,
}

/// Moments at which the allocations of a selection are alive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ScopeData {
    /// Alive at a moment.
    At(u32),
    /// Alive at any moment of a part of the axis.
    Within {
        /// Unit of `x0` and `x1`.
        axis: Axis,
        /// Left end; a part beyond the trace is cut off.
        x0: f64,
        /// Right end.
        x1: f64,
        part: Part,
    },
}

impl Default for ScopeData {
    fn default() -> Self {
        Self::At(0)
    }
}

/// Conditions on the allocations of a scope; by default all of them pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilterData {
    /// Search text, or empty.
    pub text: String,
    /// True if the text is a regular expression.
    pub is_expression: bool,
    /// Minimum size.
    pub min_bytes: u64,
    /// Minimum lifetime in events.
    pub min_lifetime: u32,
    /// Raw stream handle.
    pub stream: Option<u64>,
    pub pool: Option<PoolId>,
    pub category: Option<Category>,
    pub group: Option<GroupKeyData>,
}

/// Common key of a group's allocations, as numbers of the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GroupKeyData {
    /// Property by which the group was formed.
    pub by: GroupBy,
    /// Value of the property, `None` if unknown; only pools need both numbers.
    pub value: Option<(u64, u64)>,
}

/// Name of a group in URLs, where numbers of the worker mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GroupMark {
    /// Property by which the group was formed.
    pub by: GroupBy,
    /// Mark of its title and detail.
    pub mark: NameMark,
}

/// Streams and pools by which the allocations of a device can be filtered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectionFacts {
    /// Raw handles of the streams in use, ascending.
    pub streams: Vec<u64>,
    /// Pools in use, ascending.
    pub pools: Vec<PoolId>,
}
