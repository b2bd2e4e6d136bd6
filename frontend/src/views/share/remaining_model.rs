//! Texts and numbers of the texts that remain in a clean copy, which people review before sharing it.

use crate::ask::TextGroup;
use shared::base::format;

/// Texts that a search finds, in all groups together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundTexts {
    /// Position of the group, and of the text in it.
    rows: Vec<(u32, u32)>,
    /// Number of all texts, found or not.
    all: u64,
}

impl FoundTexts {
    /// Searches for the texts that contain all words of `search`, ignoring case.
    ///
    /// A word may also be part of the text's kind. Without a word all texts are found.
    pub fn new(groups: &[TextGroup], search: &str) -> Self {
        let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
        let is_found = |group: &TextGroup, text: &str| {
            let (kind, text) = (group.kind.as_str(), text.to_lowercase());
            words.iter().all(|word| text.contains(word) || kind.contains(word.as_str()))
        };
        let mut rows = Vec::new();
        for (position, group) in (0..).zip(groups) {
            let found = (0..).zip(&group.texts).filter(|(_, text)| words.is_empty() || is_found(group, text));
            rows.extend(found.map(|(text, _)| (position, text)));
        }
        Self { rows, all: groups.iter().map(|group| group.texts.len() as u64).sum() }
    }

    /// Returns the number of texts found.
    pub fn count(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Returns the kind and the text of a row; `None` after the last one.
    pub fn row<'a>(&self, groups: &'a [TextGroup], row: u32) -> Option<(&'a str, &'a str)> {
        let &(group, text) = self.rows.get(row as usize)?;
        let group = groups.get(group as usize)?;
        Some((&group.kind, group.texts.get(text as usize)?))
    }

    /// Formats the number of texts found, and of all texts if that differs.
    pub fn count_text(&self) -> String {
        match self.rows.len() as u64 {
            found if found == self.all => format::counted(self.all, "text"),
            found => format!("{} of {}", format::count(found), format::counted(self.all, "text")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups() -> Vec<TextGroup> {
        let group = |kind: &str, texts: &[&str]| TextGroup {
            kind: kind.to_owned(),
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        };
        vec![group("annotation", &["step 1", "Warm up"]), group("project file", &["train.py"])]
    }

    #[track_caller]
    fn check(search: &str, texts: &[&str], count: &str) {
        let groups = groups();
        let found = FoundTexts::new(&groups, search);
        let rows: Vec<&str> = (0..found.count()).map(|row| found.row(&groups, row).unwrap().1).collect();
        assert_eq!((rows.as_slice(), found.count_text().as_str()), (texts, count));
        assert_eq!(found.row(&groups, found.count()), None);
    }

    #[test]
    fn texts_are_found_by_words_and_kinds() {
        check("", &["step 1", "Warm up", "train.py"], "3 texts");
        check("WARM", &["Warm up"], "1 of 3 texts");
        check("project t", &["train.py"], "1 of 3 texts");
        check("ada", &[], "0 of 3 texts");
    }
}
