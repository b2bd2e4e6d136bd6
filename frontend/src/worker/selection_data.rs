//! Which allocations a view is about, as it travels.
//!
//! These are the scopes, filters and groups of `shared::analysis`.

use super::{AxisKind, NameMark};
use serde::{Deserialize, Serialize};

/// Which allocations a view is about, and what they count for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectionData {
    /// When they are alive.
    pub scope: ScopeData,
    /// Which of them are meant.
    pub filter: FilterData,
    /// What they count for.
    pub weight: WeightKind,
}

/// When the allocations of a selection are alive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ScopeData {
    /// At a moment.
    At(u32),
    /// At some moment of a part of the axis.
    Within {
        /// The unit of the ends.
        axis: AxisKind,
        /// The left end; what lies beyond the trace is cut.
        x0: f64,
        /// The right end.
        x1: f64,
        /// Which of those alive there.
        part: PartKind,
    },
}

impl Default for ScopeData {
    fn default() -> Self {
        Self::At(0)
    }
}

/// Which of the allocations that are alive within a part of the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PartKind {
    /// All of them.
    #[default]
    Any,
    /// Those allocated there.
    Born,
    /// Those freed there.
    Died,
    /// Those that are older and outlive it.
    Survived,
    /// Those allocated and freed there.
    BornAndDied,
    /// Those allocated there that outlive it.
    BornAndKept,
}

/// What an allocation counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WeightKind {
    /// Its size.
    #[default]
    Bytes,
    /// Its size times the moments that it is alive at.
    ByteEvents,
    /// Its size times the milliseconds that it is alive for.
    ByteTime,
    /// One.
    Count,
}

impl WeightKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bytes, Self::ByteEvents, Self::ByteTime, Self::Count];
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

/// What allocations are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GroupKind {
    /// The stack that allocated.
    #[default]
    Stack,
    /// Each frame of that stack.
    Frame,
    /// Each function of that stack.
    Function,
    /// The module of the model.
    Module,
    /// What it is for.
    Category,
    /// The stream.
    Stream,
    /// The pool.
    Pool,
    /// The power of two below the size.
    Size,
}

impl GroupKind {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::Stack, Self::Frame, Self::Function, Self::Module, Self::Category, Self::Stream, Self::Pool, Self::Size];
}

/// What the allocations of a group have in common, by numbers of the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GroupKeyData {
    /// What it is a group of.
    pub by: GroupKind,
    /// Which one; `None` where nothing is known. Only pools need both numbers.
    pub value: Option<(u64, u64)>,
}

/// What a group is called in addresses, where numbers of the worker mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GroupMark {
    /// What it is a group of.
    pub by: GroupKind,
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
