//! Defines kinds of allocations, which the page selects as a whole.
//!
//! A kind is what the user has selected as a whole: allocations of one stack, category, group, line or function, or
//! those that a search finds.
//! Any view selects one (`FileAction::SelectKind`); the worker finds its allocations once and marks them in pictures,
//! segments and totals.
//!
//! Invariant: a kind is given by content, never by numbers of the worker, so that it can be part of the address.

use super::selection::{GroupMark, NameMark};
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
    /// A box of a flame graph: a line or a function anywhere in the stack, by its [`mark`](super::site_table::mark).
    Site {
        mark: NameMark,
        is_line: bool,
    },
    /// Allocations that a search for a text or a regular expression finds.
    Text {
        text: String,
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
