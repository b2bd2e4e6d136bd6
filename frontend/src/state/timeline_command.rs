//! What the page's buttons and keys tell the timeline to do.

/// A movement of the timeline's camera.
///
/// The page listens to the keyboard and the toolbar; the timeline itself only to wheel and pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimelineCommand {
    /// Moves the view by these shares of its width and height; positive is right and up.
    Pan {
        /// Share of the width.
        x: f64,
        /// Share of the height.
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
    /// Centres the peak, zoomed in enough to read what it is made of.
    JumpToPeak,
    /// Shows the next training step, or the one before, from edge to edge.
    Step {
        /// Whether it is the next one.
        is_forward: bool,
    },
    /// Shows all that lies between two moments, at full height.
    Between {
        /// The first moment.
        first: u32,
        /// The last one; it may be the same.
        last: u32,
    },
    /// Centres a moment at the current zoom.
    JumpTo {
        /// The moment.
        moment: u32,
    },
}

/// A command with a number, so that the same command twice in a row is two commands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Issued {
    /// Counts up with every command of the page.
    pub number: u32,
    /// What to do.
    pub command: TimelineCommand,
}
