//! Which allocations a view is about, as it travels.
//!
//! These are the scopes, filters and groups of `shared::analysis`.

use super::NameMark;
use serde::{Deserialize, Serialize};
use shared::analysis::{Axis, GroupBy, Part, Weight};

/// Which allocations a view is about, and what they count for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectionData {
    /// When they are alive.
    pub scope: ScopeData,
    /// Which of them are meant.
    pub filter: FilterData,
    /// What they count for.
    pub weight: Weight,
}

/// When the allocations of a selection are alive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ScopeData {
    /// At a moment.
    At(u32),
    /// At some moment of a part of the axis.
    Within {
        /// The unit of the ends.
        axis: Axis,
        /// The left end; what lies beyond the trace is cut.
        x0: f64,
        /// The right end.
        x1: f64,
        /// Which of those alive there.
        part: Part,
    },
}

impl Default for ScopeData {
    fn default() -> Self {
        Self::At(0)
    }
}

/// Which of the allocations of a scope are meant; all of them by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilterData {
    /// A text to look for, or empty.
    pub text: String,
    /// Whether the text is a regular expression.
    pub is_expression: bool,
    /// The smallest size.
    pub min_bytes: u64,
    /// The shortest lifetime, in events.
    pub min_lifetime: u32,
    /// The raw stream handle.
    pub stream: Option<u64>,
    /// The pool.
    pub pool: Option<(u64, u64)>,
    /// The category, by its position in `shared::analysis::Category::ALL`.
    pub category: Option<u8>,
    /// One group.
    pub group: Option<GroupKeyData>,
}

/// What the allocations of a group have in common, by numbers of the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GroupKeyData {
    /// What it is a group of.
    pub by: GroupBy,
    /// Which one; `None` where nothing is known. Only pools need both numbers.
    pub value: Option<(u64, u64)>,
}

/// What a group is called in addresses, where numbers of the worker mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GroupMark {
    /// What it is a group of.
    pub by: GroupBy,
    /// The mark of its title and detail.
    pub mark: NameMark,
}

/// What the allocations of a device can be filtered by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectionFacts {
    /// The streams that are used, as raw handles, ascending.
    pub streams: Vec<u64>,
    /// The pools that are used, ascending.
    pub pools: Vec<(u64, u64)>,
}
