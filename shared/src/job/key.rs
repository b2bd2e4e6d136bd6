//! Keys of a config: where a value is stored, and which values it may have.

use std::ops::RangeInclusive;

use super::limits::{Real, Whole};
use super::model::Model;
use super::names::Names;
use super::reader::FromValue;

/// A key of the table `R` for values of type `T`, of which those in `domain` are valid.
pub(super) struct Key<R, T, D = ()> {
    pub name: &'static str,
    /// Path from the top of the config, such as `model.hidden`.
    pub path: &'static str,
    /// Returns the value in a table.
    pub get: fn(&R) -> Option<&T>,
    /// Returns the place of the value in a table.
    pub slot: fn(&mut R) -> &mut Option<T>,
    pub domain: D,
}

impl<R, T: FromValue, D> Key<R, T, D> {
    /// Returns the keys of the table that is the value.
    pub(super) const fn keys_below(&self) -> &'static [&'static str] {
        T::KEYS
    }
}

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

impl Domain for Real {}

impl Domain for Whole {
    fn bounds(&self) -> Option<RangeInclusive<u64>> {
        Some(self.least..=self.most)
    }
}

impl<T> Domain for Names<T> {
    fn words(&self) -> Vec<&'static str> {
        self.iter().map(|(name, _)| *name).collect()
    }
}

/// The names of the presets.
pub(super) struct Presets;

impl Domain for Presets {
    fn words(&self) -> Vec<&'static str> {
        Model::presets().collect()
    }
}
