//! Problems of a config: where they are, what is wrong, and what to write instead.

use std::collections::BTreeSet;
use std::fmt;

use super::nearest::meant;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Key, such as `model.hidden`; empty for the whole document.
    pub path: String,
    /// Position in the text; `None` if the key is missing or did not come from a text.
    pub place: Option<Place>,
    /// Description, without a full stop.
    pub message: String,
    /// What to write instead, without a full stop; empty if the message says it.
    pub hint: String,
}

/// Hint about what only scripts have.
pub(super) const RUN: &str = "`snapscope run -- python train.py` records any script exactly";

/// What configs had before `snapscope run` recorded scripts: its name, and the keys and values that ask for it.
const OF_SCRIPTS: &[(&str, &str)] = &[
    ("U-Nets", "model.family unet, model.preset sd-1.5, model.channels, model.cross_attention_dim, model.text_tokens"),
    ("vision transformers", "model.family vit, model.preset vit-b-16, model.preset vit-l-16, model.patch_size"),
    (
        "mixtures of experts",
        "model.preset mixtral-8x7b, model.experts, model.experts_per_token, model.experts_implementation, model.routing",
    ),
    ("pipelines", "parallel.kind pipeline, parallel.micro_batches, parallel.schedule"),
    ("tensor parallelism", "parallel.kind tensor, parallel.sequence_parallel"),
    ("ZeRO", "parallel.kind zero1, parallel.parameters_as_bucket_view"),
    ("mistakes", "mistakes"),
];

/// Position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line, counted from 1.
    pub line: usize,
    /// Character in the line, counted from 1.
    pub column: usize,
}

impl Problem {
    pub fn new(path: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { path: path.into(), place: None, message: message.into(), hint: hint.into() }
    }

    /// Returns the problem of a key, or of its value, if it asks for what only scripts have.
    pub(super) fn of_scripts(path: &str, value: Option<&str>) -> Option<Self> {
        let asked = value.map_or(path.to_owned(), |value| format!("{path} {}", value.to_lowercase()));
        let (what, _) = OF_SCRIPTS.iter().find(|(_, known)| known.split(", ").any(|known| known == asked))?;
        let verb = if what.ends_with('s') { "are" } else { "is" };
        Some(Self::new(path, format!("{what} {verb} not recorded from configs"), RUN))
    }

    /// Keeps one of several problems that ask for the same thing that only scripts have.
    pub(super) fn told_once(mut problems: Vec<Self>) -> Vec<Self> {
        let mut told = BTreeSet::new();
        problems.retain(|problem| problem.hint != RUN || told.insert(problem.message.clone()));
        problems
    }

    /// Returns true if this may be wrong only because another key could not be read.
    ///
    /// That is the case if it concerns that key, the key that was meant, or a table around it, or if its text names the
    /// key.
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

    /// Formats the problem without its position, for tests.
    #[cfg(test)]
    pub(super) fn without_place(&self) -> String {
        Self { place: None, ..self.clone() }.to_string()
    }

    /// Creates a problem of the text as a whole, which has no key.
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
    /// Returns the position of a byte in a text.
    pub(super) fn of_byte(text: &str, byte: usize) -> Self {
        let before = &text[..text.floor_char_boundary(byte)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

/// Returns true if a sentence contains a key as a separate word.
fn has_word(sentence: &str, key: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    sentence.split(|c: char| !is_part(c)).any(|word| word == key)
}

/// Returns the beginning of a foreign text on one line, short enough for a message.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut start = chars.by_ref().take(LONGEST).collect::<String>();
    if chars.next().is_some() {
        start.push('…');
    }
    start
}
