//! What a generated snapshot is like.

use shared::pickle::Style;

/// Parameters of a generated snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Seed of the stacks, times and number of temporaries.
    pub seed: u64,
    /// Exact number of events, about 105 to 120 bytes each in the Python styles.
    pub events: usize,
    /// Pickler whose output the snapshot resembles.
    pub style: Style,
}
