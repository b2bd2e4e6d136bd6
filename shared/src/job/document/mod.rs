//! Reads TOML, YAML and JSON documents into one type of value, within bounds.

mod json_text;
mod places;
mod toml_text;
mod yaml_text;

pub use places::KeyPlaces;

use super::problem::{Problem, excerpt};

/// A value of a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Whole(i64),
    /// Also holds whole numbers that do not fit into 64 bits.
    Real(f64),
    Text(String),
    List(Vec<Value>),
    Table(Vec<(String, Value)>),
}

/// Languages in which a config can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.1.
    Toml,
    /// YAML 1.2 with its core schema.
    Yaml,
    Json,
}

/// Longest text of a config, in bytes: a Hugging Face config with thousands of labels has a tenth of it.
const MOST_BYTES: usize = 1 << 20;

/// Most values of a document, including those that YAML's aliases repeat.
const MOST_VALUES: usize = 100_000;

/// Deepest nesting of lists and tables.
const MOST_DEPTH: usize = 32;

impl Format {
    /// Returns the format of a file, by its extension or else by its first characters.
    ///
    /// JSON starts with a brace. TOML has `key = value` or `[table]` in its first line, comments aside.
    pub fn of(name: &str, text: &str) -> Self {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match ending.as_deref() {
            Some("toml") => Self::Toml,
            Some("yaml" | "yml") => Self::Yaml,
            Some("json") => Self::Json,
            _ => Self::of_content(text),
        }
    }

    fn of_content(text: &str) -> Self {
        let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
        let before = |sign: char| first.find(sign).unwrap_or(usize::MAX);
        if first.starts_with('{') {
            Self::Json
        } else if first.starts_with('[') || before('=') < before(':') {
            Self::Toml
        } else {
            Self::Yaml
        }
    }
}

impl Value {
    /// Parses a text.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not of this format, too long or too deep, has too many values, or has a key
    /// twice.
    pub(super) fn parse(text: &str, format: Format) -> Result<Self, Problem> {
        if text.len() > MOST_BYTES {
            let message = format!("the text has {} bytes, but a config can have at most {MOST_BYTES}", text.len());
            return Err(Problem::in_text(None, message, "check that it is the right file"));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match format {
            Format::Toml => toml_text::parse(text),
            Format::Yaml => yaml_text::parse(text),
            Format::Json => json_text::parse(text),
        }
    }

    /// Describes the value, with its content if that is short.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Null => "an empty value".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Whole(value) => value.to_string(),
            Self::Real(value) => format!("{value:?}"),
            Self::Text(text) => format!("`{}`", excerpt(text)),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
        }
    }

    /// Returns the entry of a table.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Table(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }
}

/// Number of values and bytes that a document may still use while it is read.
struct Budget {
    values: usize,
    repeated_bytes: usize,
}

impl Budget {
    const fn new() -> Self {
        Self { values: MOST_VALUES, repeated_bytes: MOST_BYTES }
    }

    /// Takes one value at a depth.
    ///
    /// # Errors
    ///
    /// Returns an error if there are too many values, or if this one lies too deep.
    fn take(&mut self, depth: usize) -> Result<(), String> {
        self.values =
            self.values.checked_sub(1).ok_or_else(|| format!("the config has more than {MOST_VALUES} values"))?;
        if depth > MOST_DEPTH { Err(format!("values are nested more than {MOST_DEPTH} levels deep")) } else { Ok(()) }
    }

    /// Takes text that is written once in the document and will be in memory twice.
    ///
    /// # Errors
    ///
    /// Returns an error if there is more of it than the longest document has.
    fn take_repeated(&mut self, text: &str) -> Result<(), String> {
        let left = self.repeated_bytes.checked_sub(text.len());
        self.repeated_bytes = left.ok_or_else(|| format!("aliases expand to more than {MOST_BYTES} bytes"))?;
        Ok(())
    }
}

/// Hint for a document that exceeds a bound.
const HINT_BOUND: &str = "no config needs that";

#[cfg(test)]
mod tests;
