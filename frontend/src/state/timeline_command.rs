//! Commands from the page's buttons and keys to the timeline.

use crate::ask::{AllocationKey, Toward};

/// Movement of the timeline's camera, or from allocation to allocation.
///
/// The page listens to the keyboard and the toolbar, the timeline itself only to wheel and pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimelineCommand {
    /// Moves the view by fractions of its width and height; positive values move right and up.
    Pan {
        /// Fraction of the width.
        x: f64,
        /// Fraction of the height.
        y: f64,
    },
    /// Divides the visible ranges by these factors about the middle; 1 leaves an axis as it is.
    Zoom {
        /// Factor of the x axis.
        x: f64,
        /// Factor of the y axis.
        y: f64,
    },
    /// Goes back to the view before the last movement.
    Back,
    /// Shows the whole trace.
    Reset,
    /// Centres the peak, zoomed in enough to make its allocations readable.
    JumpToPeak,
    /// Shows the next or previous training step from edge to edge.
    Step { is_forward: bool },
    /// Pins the next or previous allocation of the selected kind, or else of the pinned allocation's stack.
    StepKind { is_back: bool },
    /// Pins the allocation next to the pinned one.
    StepAllocation(Toward),
    /// Pins an allocation, at a moment if it is alive then.
    Pin { key: AllocationKey, moment: u32 },
    /// Shows everything between two moments, at full height.
    Between {
        first: u32,
        /// May equal `first`.
        last: u32,
    },
    /// Shows a part of the x axis, at full height.
    Positions { first: f64, last: f64 },
    /// Centres a moment at the current zoom.
    JumpTo { moment: u32 },
    /// Bookmarks the moment under the pointer, or the middle of the view.
    Bookmark,
    /// Sets an end of a measurement at the moment under the pointer, or both ends within the view.
    Measure,
}

/// Command with a number, so that issuing the same command twice in a row counts as two commands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Issued {
    /// Number that counts up with every command of the page.
    pub number: u32,
    pub command: TimelineCommand,
}
