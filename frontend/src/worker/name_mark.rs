//! Marks: short numbers that stand for functions and groups in addresses.
//!
//! Numbers of the worker are other ones in a clean copy, and names of code have no place in an address.
//! A mark is made from what something is called without its folders, so that it means the same in most copies.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A number for something by what it is called: the 64-bit FNV-1a hash of its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NameMark(u64);

impl NameMark {
    /// The mark of words.
    pub fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        // No text has this byte, so that it divides the words.
        let word = |hash, word: &str| step(word.bytes().fold(hash, step), 0xff);
        Self(words.into_iter().fold(0xcbf2_9ce4_8422_2325, word))
    }

    /// The mark that a text writes.
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
        // Addresses outlive pages.
        assert_eq!(NameMark::of(["relu"]).to_string(), "e754fbf33aede064");
    }
}
