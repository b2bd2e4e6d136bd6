//! Words of a config and the values that they stand for, for parsing and for writing.

use super::domain::Domain;

/// Pairs of a word and its value.
pub(super) type Names<T> = &'static [(&'static str, T)];

impl<T> Domain for Names<T> {
    fn words(&self) -> Vec<&'static str> {
        self.iter().map(|(name, _)| *name).collect()
    }
}

/// Returns the word for a value.
pub(super) fn name_of<T: PartialEq>(names: Names<T>, value: &T) -> &'static str {
    names.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name)
}
