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
mod stacks;
mod training;

use shared::pickle::Style;

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

/// Generates a snapshot in memory.
pub fn generate_vec(config: &Config) -> Vec<u8> {
    let mut bytes = Vec::new();
    generate(config, |piece| bytes.extend_from_slice(piece));
    bytes
}

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

/// SplitMix64 generator, see Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, which must be at least 1.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    /// Returns one element of `all`, which must not be empty.
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Returns true with a probability of `percent` percent.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
