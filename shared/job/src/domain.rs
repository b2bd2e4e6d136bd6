//! Valid values of the keys of a config: words, and bounds of numbers, each with its reason.
//!
//! The values of a key are in its table in [`raw`](super::raw).
//! Bounds are wide: they admit what a person would train, and refuse what would take hours, overflow a size or fill the
//! host.

use std::ops::RangeInclusive;

use foundation::base::format;

/// Valid values of a key.
pub(super) trait Domain {
    /// Returns the valid words in the order of the reference; empty if other values are valid too.
    fn words(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the bounds of whole numbers, `None` if the key takes none.
    fn bounds(&self) -> Option<RangeInclusive<u64>> {
        None
    }
}

impl Domain for () {}

/// Pairs of a word and its value.
pub(super) type Names<T> = &'static [(&'static str, T)];

impl<T> Domain for Names<T> {
    fn words(&self) -> Vec<&'static str> {
        self.iter().map(|(name, _)| *name).collect()
    }
}

/// Defines enums whose variants a config names, each with the list of its names in the order of the reference.
macro_rules! words {
    ($(
        $(#[$about:meta])*
        $visibility:vis enum $type:ident in $names:ident {
            $($(#[$doc:meta])* $variant:ident = $name:literal,)+
        }
    )+) => { $(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visibility enum $type {
            $($(#[$doc])* $variant,)+
        }

        pub(crate) const $names: $crate::domain::Names<$type> = &[$(($name, $type::$variant)),+];
    )+ };
}

/// Returns the word for a value.
pub(super) fn name_of<T: PartialEq>(names: Names<T>, value: &T) -> &'static str {
    names.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name)
}

/// Bounds of a key that takes a whole number.
pub(super) struct Whole {
    /// Smallest value that makes sense.
    pub least: u64,
    /// Largest value that is accepted.
    pub most: u64,
    /// Reason for the upper bound.
    pub because: &'static str,
}

pub(super) const fn whole(least: u64, most: u64, because: &'static str) -> Whole {
    Whole { least, most, because }
}

impl Domain for Whole {
    fn bounds(&self) -> Option<RangeInclusive<u64>> {
        Some(self.least..=self.most)
    }
}

/// Limits of the numbers that a key takes.
pub(super) trait Limits<T> {
    /// Returns a number that is always within the limits.
    fn usual(&self) -> T;

    /// Says why a number is refused, and what to write; `None` if it is within the limits.
    fn refusal(&self, number: T) -> Option<(String, String)>;
}

impl Limits<u64> for Whole {
    fn usual(&self) -> u64 {
        self.least
    }

    fn refusal(&self, number: u64) -> Option<(String, String)> {
        let Self { least, most, because } = *self;
        let because = if number > most { because } else { "" };
        let [value, least_text, most_text] = [number, least, most].map(format::count);
        let message = format!("{value} is not between {least_text} and {most_text}");
        (!(least..=most).contains(&number)).then(|| (message, because.to_owned()))
    }
}

impl Limits<f64> for Real {
    fn usual(&self) -> f64 {
        self.most
    }

    fn refusal(&self, number: f64) -> Option<(String, String)> {
        let refused = !(self.least..=self.most).contains(&number);
        refused.then(|| (format!("{number} is out of range"), format!("write a number {}", self.words)))
    }
}

pub(super) const NO_MODEL: &str = "no published model needs more";
pub(super) const HOURS: &str = "memory use repeats from step to step, and more would take hours";

/// Bounds of a key that takes a real number.
pub(super) struct Real {
    pub least: f64,
    pub most: f64,
    /// Bounds in words.
    pub words: &'static str,
}

/// Returns bounds; PyTorch's own where it has any.
pub(super) const fn real(least: f64, most: f64, words: &'static str) -> Real {
    Real { least, most, words }
}

impl Domain for Real {}

pub(super) const SHARE: &str = "from 0 to 1";
pub(super) const ABOVE_0: f64 = f64::MIN_POSITIVE;
pub(super) const BELOW_1: f64 = 1.0 - f64::EPSILON / 2.0;

/// Longest text in a config, in characters.
pub(super) const MOST_CHARACTERS: usize = 1000;

/// Longest name of a job, in characters: it stands on a line of its own.
pub(super) const MOST_NAME_CHARACTERS: usize = 100;

/// Most parameters of a model: about five times the bytes of the largest named card.
pub(super) const MOST_PARAMETERS: u64 = 1_000_000_000_000;

/// Most bytes of one tensor: over a thousand times the memory of any named card, and far from overflowing a size.
pub(super) const MOST_TENSOR_BYTES: u128 = 1 << 48;

/// Most bytes of a batch of images or vectors, which is created in host memory.
pub(super) const MOST_BATCH_BYTES: u128 = 2 << 30;

/// Most events of a recording: each takes about 1 KiB while it runs.
pub(super) const MOST_EVENTS: u128 = 4_000_000;
