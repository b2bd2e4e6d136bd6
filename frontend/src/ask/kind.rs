//! Defines kinds of allocations, which the page selects as a whole, and the questions about them.
//!
//! A kind is what the user has selected as a whole: allocations of one stack, category, group, line or function, or
//! those that a search finds.
//! Any view selects one (`FileAction::SelectKind`); the worker finds its allocations once and marks them in pictures,
//! segments and totals.
//!
//! Invariant: a kind is given by content, never by numbers of the worker, so that it can be part of the address.

use super::allocations::Found;
use super::selection::{GroupKeyData, GroupMark, NameMark};
use serde::{Deserialize, Serialize};
use shared::analysis::{AllocationKey, Category};

/// Property that selected allocations share, in a form that means the same in every copy of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The stack of this allocation; without a stack, also its size.
    StackOf(AllocationKey),
    /// A stack, by the mark of its frames; see [`stack_mark`](super::stack::stack_mark).
    Stack(NameMark),
    Category(Category),
    /// A group of a table, other than one of a stack or a category.
    Group(GroupMark),
    /// A box of a flame graph: a line or a function anywhere in the stack.
    Site {
        /// Mark of the site; see [`mark`](super::site_table::mark).
        mark: NameMark,
        /// True if it is a line, false for a function.
        is_line: bool,
    },
    /// Allocations that a search finds.
    Text {
        text: String,
        /// True if the text is a regular expression.
        is_expression: bool,
    },
}

impl Kind {
    /// Returns true for a search, which changes with each typed letter.
    pub fn is_typed(&self) -> bool {
        matches!(self, Self::Text { .. })
    }

    /// Returns true for a kind that changes with each typed letter, or with each box that keys choose.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Text { .. } | Self::Site { .. })
    }

    /// Returns a number that tells kinds apart.
    pub fn number(&self) -> NameMark {
        NameMark::of([format!("{self:?}").as_str()])
    }
}

/// What a picture sets apart from the rest, as numbers that can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Marking {
    /// [`Kind::number`] of the selected kind; all other allocations are grey.
    pub kind: Option<NameMark>,
    /// Allocation that is a band of its own, however small it is.
    pub apart: Option<u32>,
}

/// Asks for the totals of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetKind {
    pub device: u32,
    pub kind: Kind,
    /// Moment for which bytes are wanted.
    pub moment: u32,
}

/// Asks for the next or previous allocation of a kind, in the order of births; it wraps around at both ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepKind {
    pub device: u32,
    pub kind: Kind,
    /// Allocation to start from; `None` starts at the largest one at `moment`.
    pub from: Option<u32>,
    pub is_back: bool,
    /// Moment at which an allocation is shown if it is alive then.
    pub moment: u32,
}

/// Totals of a kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KindFacts {
    pub title: String,
    /// Callers or another text that distinguishes the kind from others with the same title; may be empty.
    pub detail: String,
    /// Number of allocations in the whole trace.
    pub count: u64,
    /// Bytes at the moment that was asked for.
    pub bytes: u64,
    /// Bytes of all allocations at that moment.
    pub live_bytes: u64,
    /// Moment at which the kind holds the most bytes.
    pub most_moment: u32,
    /// Bytes at that moment.
    pub most_bytes: u64,
    /// Key of the group with the same allocations, if there is one.
    pub key: Option<GroupKeyData>,
    /// Mark of that group in addresses.
    pub mark: Option<NameMark>,
    /// Marks of the line and of the function that a flame graph outlines.
    pub sites: Option<[NameMark; 2]>,
    /// Mark of the stack, if all allocations have one stack.
    pub stack: Option<NameMark>,
    /// Text of the search that finds the kind, and true if it is a regular expression.
    pub search: Option<(String, bool)>,
}

/// Allocation to which a step through a kind leads.
pub type KindStep = Option<Found>;
