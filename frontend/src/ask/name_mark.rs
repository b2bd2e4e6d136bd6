//! Creates marks: short numbers that stand for functions and groups in URLs.
//!
//! The worker's own numbers differ in a clean copy, and names of code must not appear in a URL. A mark is made from the
//! name without its folders, so that it is the same in most copies.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Number for something with a name: the 64-bit FNV-1a hash of the words of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NameMark(u64);

impl NameMark {
    /// Returns the mark of words.
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
