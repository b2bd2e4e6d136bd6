//! Defines the message form of selections: the scopes, filters and groups of `shared::analysis`, and marks of names.
//!
//! Marks are short numbers that stand for functions and groups in URLs.
//! The worker's own numbers differ in a clean copy, and names of code must not appear in a URL. A mark is made from the
//! name without its folders, so that it is the same in most copies.

use serde::{Deserialize, Serialize};
use shared::analysis::{Axis, Category, GroupBy, GroupKey, Part, Weight};
use shared::trace::PoolId;
use std::fmt;

/// Allocations that a view shows, and how they are weighed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectionData {
    pub scope: ScopeData,
    pub filter: FilterData,
    pub weight: Weight,
}

impl SelectionData {
    /// Selects all allocations of a trace.
    pub fn whole() -> Self {
        let scope = ScopeData::Within { axis: Axis::Events, x0: 0.0, x1: f64::MAX, part: Part::Any };
        Self { scope, ..Self::default() }
    }

    /// Selects what is alive at a moment.
    pub fn at(moment: u32) -> Self {
        Self { scope: ScopeData::At(moment), ..Self::default() }
    }
}

/// Moments at which the allocations of a selection are alive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ScopeData {
    At(u32),
    /// Alive at any moment of a part of the axis, which is cut off beyond the trace.
    Within {
        axis: Axis,
        x0: f64,
        x1: f64,
        part: Part,
    },
}

impl Default for ScopeData {
    fn default() -> Self {
        Self::At(0)
    }
}

/// Conditions on the allocations of a scope; by default all of them pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilterData {
    /// Search text, or empty.
    pub text: String,
    /// True if the text is a regular expression.
    pub is_expression: bool,
    pub min_bytes: u64,
    /// Minimum lifetime in events.
    pub min_lifetime: u32,
    /// Raw stream handle.
    pub stream: Option<u64>,
    pub pool: Option<PoolId>,
    pub category: Option<Category>,
    pub group: Option<GroupKey>,
}

/// Name of a group in URLs, where numbers of the worker mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GroupMark {
    /// Property by which the group was formed.
    pub by: GroupBy,
    /// Mark of its title and detail.
    pub mark: NameMark,
}

/// Streams and pools by which the allocations of a device can be filtered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectionFacts {
    /// Raw handles of the streams in use, ascending.
    pub streams: Vec<u64>,
    /// Pools in use, ascending.
    pub pools: Vec<PoolId>,
}

/// Number for something with a name: the 64-bit FNV-1a hash of the words of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NameMark(u64);

impl NameMark {
    pub fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        // This byte occurs in no UTF-8 text, so that it separates the words.
        let word = |hash, word: &str| step(word.bytes().fold(hash, step), 0xff);
        Self(words.into_iter().fold(0xcbf2_9ce4_8422_2325, word))
    }

    /// Parses a mark, `None` if the text is not a hexadecimal number of at most 64 bits.
    pub fn of_text(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

impl fmt::Display for NameMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tell_words_apart_and_come_back() {
        let marks = [NameMark::of(["ab", "c"]), NameMark::of(["a", "bc"]), NameMark::of(["abc"]), NameMark::of([])];
        for (index, mark) in marks.into_iter().enumerate() {
            assert_eq!(NameMark::of_text(&mark.to_string()), Some(mark));
            assert!(marks[..index].iter().all(|other| *other != mark));
        }
        assert_eq!(NameMark::of_text("relu"), None);
    }

    #[test]
    fn marks_stay_what_they_are() {
        // URLs outlive versions of the page.
        assert_eq!(NameMark::of(["relu"]).to_string(), "e754fbf33aede064");
    }
}
