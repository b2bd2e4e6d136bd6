//! Reads TOML, YAML and JSON documents into one type of value, within bounds.

mod json_text;
mod places;
mod toml_text;
mod value;
mod yaml_text;

pub use places::KeyPlaces;
pub(super) use value::Value;

use super::problem::Problem;
use value::MOST_BYTES;

/// Languages in which a config can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.1.
    Toml,
    /// YAML 1.2 with its core schema.
    Yaml,
    Json,
}

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
}

#[cfg(test)]
mod tests;
