//! Generates realistic snapshots of any size.
//!
//! A GPT-like training loop runs against a small caching allocator, and its events are written as one of PyTorch's two
//! picklers would: parameters, then steps of forward (activations stay), backward (without Python stacks, as in
//! PyTorch's autograd threads) and AdamW. The same configuration gives the same bytes on every machine.
//!
//! A snapshot begins with its segments, although they are known last. So the loop runs twice, once for the final state
//! and once for the events, and nothing is kept in between: memory use does not depend on the number of events.

mod allocator;
mod document;
mod random;
mod stacks;
mod training;
pub use random::Random;
pub use training::Config;

/// Writes a snapshot piece by piece into `sink`.
pub fn generate<S: FnMut(&[u8])>(config: &Config, sink: S) {
    let stacks = stacks::Stacks::new(config.seed);
    let run = training::run(config, &stacks, &mut |_| ());
    let mut document = document::Document::begin(config, &stacks, sink);
    document.segments(&run.allocator);
    document.begin_events();
    training::run(config, &stacks, &mut |event| document.event(event));
    document.finish(&run.marks);
}

pub fn generate_vec(config: &Config) -> Vec<u8> {
    let mut bytes = Vec::new();
    generate(config, |piece| bytes.extend_from_slice(piece));
    bytes
}
