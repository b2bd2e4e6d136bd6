//! Choices in the views below the timeline.

#[cfg(test)]
mod tests;
mod text;

use super::selecting::Selecting;
use crate::ask::differences::Sort as DiffSort;
use crate::ask::site_table::SiteOrder;
use crate::ask::{Columns, CompareSide, DiffBy, GroupBy, Instant, NameMark, Sort, WhatIfSetup};
use shared::names;
use std::rc::Rc;
pub(super) use text::{has_card, read, write};

/// Choices in the views below the timeline of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// Allocations that the flame graph and the table of allocations examine.
    pub selecting: Selecting,
    pub rows: RowsChoice,
    pub events: EventsChoice,
    pub stacks: StacksChoice,
    pub segments: SegmentsChoice,
    pub compare: CompareChoice,
    pub differences: DifferencesChoice,
    /// True if ranks are compared rather than moments; the same for all files.
    pub are_ranks: bool,
    /// Setup of the replay; `None` until that view was opened.
    pub what_if: Option<Rc<WhatIfSetup>>,
    /// Rule for the user's own code, as [`OwnCode`](shared::base::OwnCode) reads it; empty for the automatic one.
    pub own: Rc<str>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowsChoice {
    /// Kind of groups that form the rows; `None` for single allocations.
    pub by: Option<GroupBy>,
    pub sort: Sort,
    pub columns: Columns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventsChoice {
    /// Index of the chosen event.
    pub event: Option<u32>,
    /// True if the list follows the moment under the pointer.
    pub follows: bool,
}

impl Default for EventsChoice {
    fn default() -> Self {
        Self { event: None, follows: true }
    }
}

/// Choices in the views of stacks: flame graph and table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StacksChoice {
    pub controls: Controls,
    pub search: String,
    /// Part of the graph in view; `None` for all of it.
    pub zoom: Option<Zoom>,
    /// Function that is shown between its callers and callees.
    pub site: Option<NameMark>,
    pub order: SiteOrder,
}

/// Switches for how stacks are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controls {
    /// Shows a table of all functions instead of the graph.
    pub is_table: bool,
    /// Makes the innermost functions the roots.
    pub is_inverted: bool,
    pub rootward: Rootward,
    /// Orders boxes by first appearance.
    pub by_appearance: bool,
    /// Separates the lines of a function.
    pub by_line: bool,
    /// Shows frames of the runtime below the program: PyTorch, the standard library and native code.
    pub with_runtime: bool,
}

impl Default for Controls {
    fn default() -> Self {
        Self {
            is_table: false,
            is_inverted: false,
            rootward: Rootward::Up,
            by_appearance: false,
            // A file has many functions of one name, such as `forward`; only their lines tell them apart.
            by_line: true,
            with_runtime: false,
        }
    }
}

/// Part of a flame graph.
///
/// It is given in units of weight, which mean the same in every copy of a file; node numbers would not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zoom {
    /// Weight at the left edge.
    pub start: f64,
    /// Weight at the right edge.
    pub end: f64,
    /// Row at the root's edge.
    pub row: f64,
}

/// Direction in which the root lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rootward {
    /// The root is at the top, and the graph hangs like icicles.
    #[default]
    Up,
    /// The root is at the bottom, and the graph rises like flames.
    Down,
}

/// Property of blocks that their colours stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockColors {
    /// The allocating stack, as in the timeline.
    #[default]
    Stack,
    /// State of the block: in use, pending or free.
    State,
}

names!(BlockColors { Stack => "stack", State => "state" });

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentsChoice {
    pub instant: Instant,
    pub color_by: BlockColors,
    /// Zoom as a power of two: the scale is doubled this many times.
    pub scale: u32,
    /// Block with the keyboard focus, and the moment to which its position belongs.
    pub focus: Option<(u32, u32)>,
}

/// Compared moments and device; `None` where the view chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompareChoice {
    pub this: Option<CompareSide>,
    pub other: Option<CompareSide>,
    pub against: Option<Against>,
}

/// Number of an open file, never used twice in one visit.
pub type FileId = u32;

/// Device to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// Device of this file, by position.
    Device(u32),
    /// Device of another file, by position.
    OfFile(FileId, u32),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DifferencesChoice {
    /// Kind of groups that form the rows.
    pub by: DiffBy,
    pub sort: DiffSort,
    pub filter: String,
}

/// Choice in a view below the timeline.
///
/// Controls that may be used at the same time have variants of their own, so that none resets another.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    Selecting(Selecting),
    Rows(RowsChoice),
    Events(EventsChoice),
    Stacks(Controls),
    StackSearch(String),
    Zoom(Option<Zoom>),
    /// Shows a function between its callers and callees.
    Site(NameMark),
    SiteOrder(SiteOrder),
    Segments(SegmentsChoice),
    Compare(CompareChoice),
    Differences(DifferencesChoice),
    /// Changes the settings or the card of a replay.
    WhatIf(WhatIfSetup),
    Own(Rc<str>),
}

impl Choices {
    pub fn take(&mut self, choice: Choice) {
        match choice {
            Choice::Selecting(selecting) => {
                // A part of one graph means nothing in another.
                self.stacks.zoom = None;
                self.selecting = selecting;
            }
            Choice::Rows(rows) => self.rows = rows,
            Choice::Events(events) => self.events = events,
            Choice::Stacks(controls) => {
                let of_graph = |controls: Controls| {
                    let Controls { is_inverted, by_appearance, by_line, with_runtime, .. } = controls;
                    (is_inverted, by_appearance, by_line, with_runtime)
                };
                if of_graph(controls) != of_graph(self.stacks.controls) {
                    self.stacks.zoom = None;
                }
                self.stacks.controls = controls;
            }
            Choice::StackSearch(text) => self.stacks.search = text,
            Choice::Zoom(zoom) => self.stacks.zoom = zoom,
            Choice::Site(site) => self.stacks.site = Some(site),
            Choice::SiteOrder(order) => self.stacks.order = order,
            Choice::Segments(segments) => self.segments = segments,
            Choice::Compare(compare) => self.compare = compare,
            Choice::Differences(differences) => self.differences = differences,
            Choice::WhatIf(setup) => self.what_if = Some(Rc::new(setup)),
            Choice::Own(own) => self.own = own,
        }
    }

    /// Resets choices that depend on the device, since another one has other streams, groups, moments and requests.
    pub fn leave_device(&mut self) {
        self.selecting = self.selecting.for_other_device();
        self.stacks.zoom = None;
        self.segments.focus = None;
        self.events.event = None;
        self.what_if = None;
    }
}
