//! Defines the questions about kinds of allocations, and the answers.

use super::allocations::Found;
use super::kind::Kind;
use super::name_mark::NameMark;
use super::selection::GroupKeyData;
use serde::{Deserialize, Serialize};

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
