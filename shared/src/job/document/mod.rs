//! Documents: what TOML, YAML and JSON have in common, read within bounds.

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
    /// Also whole numbers that 64 bits can't hold.
    Real(f64),
    Text(String),
    List(Vec<Value>),
    Table(Vec<(String, Value)>),
}

/// The languages that a config can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.1.
    Toml,
    /// YAML 1.2 with its core schema.
    Yaml,
    /// JSON.
    Json,
}

/// The longest text of a config, in bytes: a Hugging Face config with thousands of labels has a tenth of it.
const MOST_BYTES: usize = 1 << 20;

/// The most values of a document, those that YAML's aliases repeat included.
const MOST_VALUES: usize = 100_000;

/// The deepest nesting of lists and tables.
const MOST_DEPTH: usize = 32;

impl Format {
    /// The format of a file, by the end of its name, or else by its first characters.
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
    /// Reads a text.
    ///
    /// # Errors
    ///
    /// The text is not of this format, too long, too deep, has too many values, or has a key twice.
    pub(super) fn parse(text: &str, format: Format) -> Result<Self, Problem> {
        if text.len() > MOST_BYTES {
            let message = format!("the text has {} bytes, more than a config of {MOST_BYTES}", text.len());
            return Err(Problem::in_text(None, message, "check that it is the right file"));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match format {
            Format::Toml => toml_text::parse(text),
            Format::Yaml => yaml_text::parse(text),
            Format::Json => json_text::parse(text),
        }
    }

    /// What the value is, with its content where that is short.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Null => "nothing".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Whole(value) => value.to_string(),
            Self::Real(value) => format!("{value:?}"),
            Self::Text(text) => format!("`{}`", excerpt(text)),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
        }
    }

    /// The entry of a table.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Table(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }
}

/// What is left of a document's bounds while it is read.
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
    /// There are too many of them, or it lies too deep.
    fn take(&mut self, depth: usize) -> Result<(), String> {
        self.values = self.values.checked_sub(1).ok_or_else(|| format!("more than {MOST_VALUES} values"))?;
        if depth > MOST_DEPTH { Err(format!("nested deeper than {MOST_DEPTH} levels")) } else { Ok(()) }
    }

    /// Takes text that stands once in the document and will stand twice in memory.
    ///
    /// # Errors
    ///
    /// There is more of it than the longest document has.
    fn take_repeated(&mut self, text: &str) -> Result<(), String> {
        let left = self.repeated_bytes.checked_sub(text.len());
        self.repeated_bytes = left.ok_or_else(|| format!("aliases for more than {MOST_BYTES} bytes"))?;
        Ok(())
    }
}

/// What to write instead of a document that breaks a bound.
const HINT_BOUND: &str = "no config needs that";

#[cfg(test)]
mod tests;
