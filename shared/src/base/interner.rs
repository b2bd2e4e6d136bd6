//! Stores each distinct string once.

use super::handle;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

handle! {
    /// Handle to a string of the [`StringTable`] that issued it, by order of first appearance.
    pub struct StringId of "strings"
}

impl StringId {
    /// Empty string, which is present in every table.
    pub const EMPTY: Self = Self(0);
}

/// All distinct strings of a trace, in one buffer.
#[derive(Clone, Debug)]
pub struct StringTable {
    text: String,
    /// End of string `i` in `text`, as `ends[i]`.
    ends: Vec<usize>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Default for StringTable {
    fn default() -> Self {
        Self::new()
    }
}

impl StringTable {
    /// Creates a table that holds only the empty string.
    pub fn new() -> Self {
        let mut table =
            Self { text: String::new(), ends: Vec::new(), index: HashTable::new(), hasher: Default::default() };
        table.intern("");
        table
    }

    /// Returns the handle of `string`, which is added if it is new.
    ///
    /// # Panics
    /// Panics if the table already holds 2^32 strings.
    pub fn intern(&mut self, string: &str) -> StringId {
        let Self { text, ends, index, hasher } = self;
        let hash = hasher.hash_one(string);
        let slice = |id: u32| slice(text, ends, id as usize);
        if let Some(&id) = index.find(hash, |&id| slice(id) == string) {
            return StringId(id);
        }
        let id = u32::try_from(ends.len()).expect("fewer than 2^32 strings");
        text.push_str(string);
        ends.push(text.len());
        index.insert_unique(hash, id, |&id| hasher.hash_one(self::slice(text, ends, id as usize)));
        StringId(id)
    }

    /// Returns the handle of `string` if it is in the table.
    pub fn find(&self, string: &str) -> Option<StringId> {
        let hash = self.hasher.hash_one(string);
        self.index.find(hash, |&id| slice(&self.text, &self.ends, id as usize) == string).map(|&id| StringId(id))
    }

    /// Returns the string behind a handle of this table.
    ///
    /// # Panics
    /// Panics if the handle comes from a larger table.
    pub fn get(&self, id: StringId) -> &str {
        slice(&self.text, &self.ends, id.index())
    }

    /// Returns the number of distinct strings, including the empty one.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Always false, because the empty string is present from the start.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Iterates over all handles in order of first appearance.
    pub fn ids(&self) -> impl Iterator<Item = StringId> {
        (0..self.ends.len() as u32).map(StringId)
    }
}

fn slice<'a>(text: &'a str, ends: &[usize], index: usize) -> &'a str {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &text[start..ends[index]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_kept_once() {
        let mut table = StringTable::new();
        let a = table.intern("alloc");
        assert_eq!(table.intern("free"), StringId(2));
        assert_eq!(table.intern("alloc"), a);
        assert_eq!(table.get(a), "alloc");
        assert_eq!(table.find("free"), Some(StringId(2)));
        assert_eq!(table.find("oom"), None);
        assert_eq!(table.len(), 3);
    }

    #[test]
    fn the_empty_string_is_the_first() {
        assert_eq!(StringTable::new().intern(""), StringId::EMPTY);
    }
}
