//! Delimits a training step, or a call of a model.

/// Training step: the events after the moment `start` up to the moment `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Moment before its first event.
    pub start: u32,
    /// Moment after its last event.
    pub end: u32,
}

impl Step {
    /// Returns true if the event that ends at this moment is part of the step.
    pub fn contains(&self, moment: u32) -> bool {
        self.start < moment && moment <= self.end
    }
}
