//! What is wrong with a config, where, and what to write.

use super::nearest::meant;
use std::fmt;

/// One thing that is wrong with a config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key, such as `model.hidden`; empty where it is the whole document.
    pub path: String,
    /// Where in the text; unknown for what is missing altogether or was not in a text.
    pub place: Option<Place>,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to write, without a full stop; empty where the message says it.
    pub hint: String,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
}

impl Problem {
    pub(super) fn new(path: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { path: path.into(), place: None, message: message.into(), hint: hint.into() }
    }

    /// Whether this may be wrong only because another key could not be read.
    ///
    /// It is about that key, the key that it was meant to be, or a table around it, or its words name it.
    pub(super) fn may_follow_from(&self, unread: &Self) -> bool {
        let table = unread.path.rsplit_once('.').map(|(table, _)| table);
        let meant = meant(&unread.hint).map(|name| table.map_or(name.to_owned(), |table| format!("{table}.{name}")));
        [Some(unread.path.clone()), meant].into_iter().flatten().any(|path| {
            let is_around = |outer: &str, inner: &str| {
                inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ' ', '[']))
            };
            let name = path.rsplit('.').next().unwrap_or(&path);
            let names_it = [&self.message, &self.hint].into_iter().any(|words| has_word(words, name));
            is_around(&path, &self.path) || is_around(&self.path, &path) || names_it
        })
    }

    /// The problem in words, for tests of what is wrong and not of where.
    #[cfg(test)]
    pub(super) fn without_place(&self) -> String {
        Self { place: None, ..self.clone() }.to_string()
    }

    /// A problem of the text, before there are keys.
    pub(super) fn in_text(place: Option<Place>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { path: String::new(), place, message: message.into(), hint: hint.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Place { line, column }) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

impl Place {
    /// The place of a byte in a text.
    pub(super) fn of_byte(text: &str, byte: usize) -> Self {
        let before = &text[..text.floor_char_boundary(byte)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

/// Whether a key stands in a sentence as a word of its own.
fn has_word(sentence: &str, key: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    sentence.split(|c: char| !is_part(c)).any(|word| word == key)
}

/// As much of a foreign text as a message needs, on one line.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut start = chars.by_ref().take(LONGEST).collect::<String>();
    if chars.next().is_some() {
        start.push('…');
    }
    start
}
