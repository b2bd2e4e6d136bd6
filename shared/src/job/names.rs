//! Words of a config and the values that they stand for, for parsing and for writing.

/// Pairs of a word and its value.
pub(super) type Names<T> = &'static [(&'static str, T)];

/// Returns the word for a value.
pub(super) fn name_of<T: PartialEq>(names: Names<T>, value: &T) -> &'static str {
    names.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name)
}
