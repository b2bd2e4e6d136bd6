//! Realistic snapshots of any size.
//!
//! A GPT-like training loop runs against a small caching allocator, and what happens is written as either of PyTorch's
//! picklers would: parameters, then steps of forward (activations stay), backward (without Python stacks, as in
//! PyTorch's autograd threads) and AdamW.
//! The same configuration gives the same bytes on every machine.
//!
//! The segments come first in a snapshot although they are the last to be known.
//! So the loop runs twice, for the final state and for the events, and nothing is kept in between: memory stays small
//! whatever the number of events.

mod allocator;
mod document;
mod random;
mod stacks;
mod training;

pub use random::Random;

use shared::pickle::Style;

/// What snapshot to make.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Chooses stacks, times and the number of temporaries.
    pub seed: u64,
    /// The exact number of events; about 105 bytes each in the Python styles.
    pub events: usize,
    /// Whose pickle it looks like.
    pub style: Style,
}

/// Writes a snapshot piece after piece into `sink`.
pub fn generate<S: FnMut(&[u8])>(config: &Config, sink: S) {
    let stacks = stacks::Stacks::new(config.seed);
    let run = training::run(config, &stacks, &mut |_| ());
    let mut document = document::Document::begin(config, &stacks, sink);
    document.segments(&run.allocator);
    document.begin_events();
    training::run(config, &stacks, &mut |event| document.event(event));
    document.finish(&run.marks);
}

/// A snapshot in memory.
pub fn generate_vec(config: &Config) -> Vec<u8> {
    let mut bytes = Vec::new();
    generate(config, |piece| bytes.extend_from_slice(piece));
    bytes
}
