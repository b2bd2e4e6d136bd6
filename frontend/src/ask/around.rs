//! Defines answers about kinds of allocations, about an allocation's kind, its neighbours and the events around it, and
//! about single events.

use super::selection::NameMark;
use super::timeline::Hit;
use serde::{Deserialize, Serialize};
use shared::analysis::{AllocationKey, Category, GroupKey};
use shared::report::{EventLine, EventReport, Frame};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Toward {
    Earlier,
    Later,
    /// The one above it in the stack of a moment.
    Above,
    /// The one below it in the stack of a moment.
    Below,
    /// The next larger one of a moment.
    Larger,
    /// The next smaller one of a moment.
    Smaller,
}

/// What an allocation was for, and what happened around it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Around {
    pub allocation: u32,
    pub category: Category,
    /// Module of the model; empty if none is known.
    pub module: String,
    /// Size of its block without an unsplit rest; `None` if the allocator's settings are not modelled.
    pub rounded_bytes: Option<u64>,
    /// Number of allocations of its kind in the whole trace.
    pub kind_count: u64,
    /// Bytes of those that are alive at the moment that was asked for.
    pub kind_bytes: u64,
    /// True if its kind are allocations without a stack that have its size.
    pub is_kind_by_size: bool,
    /// Stack where it was freed, innermost frame first; empty if none was recorded.
    pub free_frames: Vec<Frame>,
    /// Events around its allocation; empty if it is from before the trace.
    pub near_alloc: Vec<NearEvent>,
    /// Events around its free; empty if it outlives the trace.
    pub near_free: Vec<NearEvent>,
}

/// Event beside an allocation's birth or death.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NearEvent {
    pub event: u32,
    /// True if it allocates, false if it frees.
    pub is_alloc: bool,
    /// True if it is about the allocation itself.
    pub is_own: bool,
    pub size_bytes: u64,
    /// Title of the stack that allocated the memory; empty if none was recorded.
    pub title: String,
    /// Allocation that begins or ends.
    pub key: Option<AllocationKey>,
}

/// Stack that a legend names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BandName {
    /// Number from which the colour is chosen; `None` if all of it is from before the trace, which is one band.
    pub color: Option<u32>,
    /// Part of the label in which it differs from the others of the list, in a few letters.
    pub lead: String,
    /// The label's other parts.
    pub rest: String,
    /// Callers of the function in the label.
    pub callers: String,
    pub bytes: u64,
    pub stack: NameMark,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventPage {
    /// Index of the first event.
    pub first: u32,
    pub lines: Vec<EventLine>,
}

/// Event with the allocation that it begins or ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventDetails {
    pub report: EventReport,
    /// The allocation as a click on it would have hit it, if the event belongs to one.
    pub hit: Option<Hit>,
}

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
    pub most_bytes: u64,
    /// Key of the group with the same allocations, if there is one.
    pub key: Option<GroupKey>,
    /// Mark of that group in addresses.
    pub mark: Option<NameMark>,
    /// Marks of the line and of the function that a flame graph outlines.
    pub sites: Option<[NameMark; 2]>,
    /// Mark of the stack, if all allocations have one stack.
    pub stack: Option<NameMark>,
    /// Text of the search that finds the kind, and true if it is a regular expression.
    pub search: Option<(String, bool)>,
}
