//! Stores each distinct string once.
//!
//! A report repeats a name for each stack that it is in, so that one long name in a small file would fill gigabytes.
//! Therefore names are cut unless whoever reads them asks for the whole string, as copies of the snapshot do.

use super::handle;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use std::hash::BuildHasher;

/// Maximum length of a string from [`StringTable::get`], in bytes; longer ones keep more of their start, because a
/// file is named at the end of its path, and a symbol before its parameters.
const MOST_SHOWN_BYTES: usize = 300;
const MOST_START_BYTES: usize = 160;
const MOST_END_BYTES: usize = 100;

handle! {
    /// Handle to a string of the [`StringTable`] that issued it, by order of first appearance.
    pub struct StringId of "strings"
}

impl StringId {
    /// Empty string, which is present in every table.
    pub const EMPTY: Self = Self(0);
}

/// All distinct strings of a trace, in one buffer; the empty one is always among them.
#[derive(Clone, Debug)]
pub struct StringTable {
    text: String,
    /// End of string `i` in `text`, as `ends[i]`.
    ends: Vec<usize>,
    /// Strings that are too long for reports, as reports show them.
    cut: HashMap<u32, Box<str>>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Default for StringTable {
    fn default() -> Self {
        Self::new()
    }
}

impl StringTable {
    pub fn new() -> Self {
        let (text, ends, cut, index) = Default::default();
        let mut table = Self { text, ends, cut, index, hasher: Default::default() };
        table.intern("");
        table
    }

    /// Returns the handle of `string`, which is added if it is new.
    pub fn intern(&mut self, string: &str) -> StringId {
        let Self { text, ends, cut, index, hasher } = self;
        let hash = hasher.hash_one(string);
        let slice = |id: u32| slice(text, ends, id as usize);
        if let Some(&id) = index.find(hash, |&id| slice(id) == string) {
            return StringId(id);
        }
        let id = u32::try_from(ends.len()).expect("fewer than 2^32 strings");
        text.push_str(string);
        ends.push(text.len());
        if string.len() > MOST_SHOWN_BYTES {
            cut.insert(id, shown(string).into());
        }
        index.insert_unique(hash, id, |&id| hasher.hash_one(self::slice(text, ends, id as usize)));
        StringId(id)
    }

    pub fn find(&self, string: &str) -> Option<StringId> {
        let hash = self.hasher.hash_one(string);
        self.index.find(hash, |&id| slice(&self.text, &self.ends, id as usize) == string).map(|&id| StringId(id))
    }

    /// Returns the string behind a handle of this table, cut in its middle if it is longer than 300 bytes.
    pub fn get(&self, id: StringId) -> &str {
        let whole = self.whole(id);
        if whole.len() <= MOST_SHOWN_BYTES { whole } else { &self.cut[&id.0] }
    }

    /// Returns the string behind a handle of this table, however long it is.
    pub fn whole(&self, id: StringId) -> &str {
        slice(&self.text, &self.ends, id.index())
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn ids(&self) -> impl Iterator<Item = StringId> {
        (0..self.ends.len() as u32).map(StringId)
    }
}

fn slice<'a>(text: &'a str, ends: &[usize], index: usize) -> &'a str {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &text[start..ends[index]]
}

/// Cuts a string in its middle and says how much is missing.
fn shown(string: &str) -> String {
    let start = &string[..string.floor_char_boundary(MOST_START_BYTES)];
    let end = &string[string.ceil_char_boundary(string.len() - MOST_END_BYTES)..];
    format!("{start}…[{} bytes cut]…{end}", string.len() - start.len() - end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_string_is_cut_where_it_is_shown() {
        let mut table = StringTable::new();
        let long = format!("/start/{}/end.py", "ü".repeat(500_000));
        let (id, fits) = (table.intern(&long), table.intern(&"x".repeat(MOST_SHOWN_BYTES)));
        assert_eq!((table.intern(&long), table.find(&long), table.whole(id)), (id, Some(id), &*long));
        let shown = table.get(id);
        assert!(shown.starts_with("/start/üü") && shown.ends_with("üü/end.py"), "{shown}");
        assert!(shown.contains("ü…[999756 bytes cut]…ü") && shown.len() <= MOST_SHOWN_BYTES, "{shown}");
        assert_eq!(table.get(fits), table.whole(fits));
    }

    #[test]
    fn a_string_is_kept_once_and_the_empty_one_is_the_first() {
        let mut table = StringTable::new();
        let a = table.intern("alloc");
        assert_eq!(table.intern("free"), StringId(2));
        assert_eq!(table.intern("alloc"), a);
        assert_eq!(table.get(a), "alloc");
        assert_eq!(table.find("free"), Some(StringId(2)));
        assert_eq!(table.find("oom"), None);
        assert_eq!(table.len(), 3);
        assert_eq!(StringTable::new().intern(""), StringId::EMPTY);
    }
}
