//! Keys of a config: where a value is stored, and which values it may have.

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
