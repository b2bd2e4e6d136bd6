//! Names the horizontal axes of a timeline.

/// What runs along the x axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Moments: the state at moment `m` (after event `m - 1`) covers `m..m + 1`.
    #[default]
    Events,
    /// Microseconds since the first event that has a time.
    Time,
}

crate::names!(Axis {
    Events => "events",
    Time => "time",
});
