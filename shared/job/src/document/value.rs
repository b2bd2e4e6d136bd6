//! A value of a document, and the bounds within which one is read.

use super::super::problem::excerpt;

#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Value {
    Null,
    Bool(bool),
    Whole(i64),
    /// Also holds whole numbers that do not fit into 64 bits.
    Real(f64),
    Text(String),
    List(Vec<Value>),
    Table(Vec<(String, Value)>),
}

/// Longest text of a config, in bytes: a Hugging Face config with thousands of labels has a tenth of it.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// Most values of a document, including those that YAML's aliases repeat.
pub(super) const MOST_VALUES: usize = 100_000;

/// Deepest nesting of lists and tables.
pub(super) const MOST_DEPTH: usize = 32;

impl Value {
    /// Describes the value, with its content if that is short.
    pub(in super::super) fn describe(&self) -> String {
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
    pub(in super::super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Table(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }
}

/// Number of values and bytes that a document may still use while it is read.
pub(super) struct Budget {
    values: usize,
    repeated_bytes: usize,
}

impl Budget {
    pub(super) const fn new() -> Self {
        Self { values: MOST_VALUES, repeated_bytes: MOST_BYTES }
    }

    /// Takes one value at a depth.
    ///
    /// # Errors
    ///
    /// Returns an error if there are too many values, or if this one lies too deep.
    pub(super) fn take(&mut self, depth: usize) -> Result<(), String> {
        self.values =
            self.values.checked_sub(1).ok_or_else(|| format!("the config has more than {MOST_VALUES} values"))?;
        if depth > MOST_DEPTH { Err(format!("values are nested more than {MOST_DEPTH} levels deep")) } else { Ok(()) }
    }

    /// Takes text that is written once in the document and will be in memory twice.
    ///
    /// # Errors
    ///
    /// Returns an error if there is more of it than the longest document has.
    pub(super) fn take_repeated(&mut self, text: &str) -> Result<(), String> {
        let left = self.repeated_bytes.checked_sub(text.len());
        self.repeated_bytes = left.ok_or_else(|| format!("aliases expand to more than {MOST_BYTES} bytes"))?;
        Ok(())
    }
}

/// Hint for a document that exceeds a bound.
pub(super) const HINT_BOUND: &str = "no config needs that";
