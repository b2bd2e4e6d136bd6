//! What is chosen in the views below the timeline.

mod change;
mod escape;
mod names;
mod text;

pub use change::Choice;
pub(super) use text::{has_card, read, write};

use super::files::FileId;
use super::selecting::Selecting;
use crate::draw::flame_camera::Rootward;
use crate::draw::segment_map::ColorBy;
use crate::view::compare::{GroupBy, Sort as DiffSort};
use crate::view::flame::SiteOrder;
use crate::worker::{CompareSide, GroupKind, Instant, NameMark, Sort, WhatIfSetup};
use std::rc::Rc;

/// What is chosen in the views below the timeline of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// Which allocations the flame graph and the table of allocations are about.
    pub selecting: Selecting,
    /// The table of allocations.
    pub rows: RowsChoice,
    /// How stacks are shown.
    pub stacks: StacksChoice,
    /// The map of segments.
    pub segments: SegmentsChoice,
    /// The comparison of two moments.
    pub compare: CompareChoice,
    /// The table of what differs.
    pub differences: DifferencesChoice,
    /// Whether ranks are compared, and not moments; the same for all files.
    pub are_ranks: bool,
    /// Under what requests are replayed, once that was looked at.
    pub what_if: Option<Rc<WhatIfSetup>>,
}

/// The table of allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowsChoice {
    /// What its rows are: groups, or single allocations without it.
    pub by: Option<GroupKind>,
    /// Their order.
    pub sort: Sort,
}

/// Stacks as a flame graph or as a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StacksChoice {
    /// How they stand.
    pub controls: Controls,
    /// What is looked for in them.
    pub search: String,
    /// What of the graph is in view; `None` for all of it.
    pub zoom: Option<Zoom>,
    /// The function between its callers and callees.
    pub site: Option<NameMark>,
    /// The order of the table.
    pub order: SiteOrder,
}

/// How stacks are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controls {
    /// A table of all functions, and not the graph.
    pub is_table: bool,
    /// The innermost functions are the roots.
    pub is_inverted: bool,
    /// Where the root is.
    pub rootward: Rootward,
    /// Boxes stand in order of first appearance.
    pub by_appearance: bool,
    /// Lines of a function are told apart.
    pub by_line: bool,
    /// Frames of the machinery are shown.
    pub with_runtime: bool,
}

impl Default for Controls {
    fn default() -> Self {
        Self {
            is_table: false,
            is_inverted: false,
            rootward: Rootward::Up,
            by_appearance: false,
            // A file has many functions of one name, such as `forward`: only their lines tell them apart.
            by_line: true,
            with_runtime: false,
        }
    }
}

/// A part of a flame graph.
///
/// It is in units of weight, which mean the same in every copy of a file; numbers of nodes would not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zoom {
    /// The weight at the left edge.
    pub start: f64,
    /// The weight at the right edge.
    pub end: f64,
    /// The row at the root's edge.
    pub row: f64,
}

/// The map of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentsChoice {
    /// The moment.
    pub instant: Instant,
    /// What blocks are coloured by.
    pub color_by: ColorBy,
    /// How often the scale is doubled.
    pub scale: u32,
    /// The block that the keyboard is at, with the moment that it is of; positions of other moments mean nothing.
    pub focus: Option<(u32, u32)>,
}

impl Default for SegmentsChoice {
    fn default() -> Self {
        Self { instant: Instant::ReservedPeak, color_by: ColorBy::default(), scale: 0, focus: None }
    }
}

/// What is compared with what; nothing where the view chooses by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompareChoice {
    /// The moment of this side.
    pub this: Option<CompareSide>,
    /// The moment of the other side.
    pub other: Option<CompareSide>,
    /// The device of the other side.
    pub against: Option<Against>,
}

/// A device to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// One of this file, by position.
    Device(u32),
    /// One of another file, by position.
    OfFile(FileId, u32),
}

/// The table of what differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DifferencesChoice {
    /// What its rows are.
    pub by: GroupBy,
    /// Their order.
    pub sort: DiffSort,
    /// What is looked for in them.
    pub filter: String,
}

#[cfg(test)]
mod tests;
