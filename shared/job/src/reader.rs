//! Reads values of a document into typed fields, and collects the path of each value that does not fit.

use super::document::Value;
use super::domain::Domain;
use super::nearest::did_you_mean_key;
use super::problem::{Problem, excerpt};

/// Current position in a document, and the problems so far.
pub(super) struct Reader<'a> {
    path: String,
    problems: &'a mut Vec<Problem>,
}

/// Limit of reported problems of a document; a longer list is of no use to a reader.
pub(super) const MOST_PROBLEMS: usize = 50;

/// A type that can be read from a value.
pub(super) trait FromValue: Sized {
    /// Expected values, for messages.
    const EXPECTED: &str;

    /// Keys of the value, if it is a table.
    const KEYS: &[&str] = &[];

    /// Returns the field, or `None` if the value has another type.
    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self>;

    /// Returns the valid values of a key below this one.
    fn domain(_path: &str) -> Option<&'static dyn Domain> {
        None
    }
}

impl<'a> Reader<'a> {
    pub(super) const fn new(problems: &'a mut Vec<Problem>) -> Self {
        Self { path: String::new(), problems }
    }

    /// Reads the field of a key; a null counts as a missing key.
    pub(super) fn value<T: FromValue>(&mut self, key: &str, value: &Value) -> Option<T> {
        if *value == Value::Null {
            return None;
        }
        let path = self.path_of(key);
        let before = self.problems.len();
        let field = T::from_value(value, &mut Reader { path: path.clone(), problems: self.problems });
        if field.is_none() && self.problems.len() == before {
            self.report(path, format!("expected {}, not {}", T::EXPECTED, value.describe()), "");
        }
        field
    }

    /// Reports an unknown key; `elsewhere` holds the tables below this one with their keys.
    pub(super) fn unknown(&mut self, key: &str, known: &[&str], elsewhere: &[(&str, &[&str])]) {
        // A longer list would hide the other problems.
        const MOST_LISTED: usize = 12;
        if let Some(Problem { path, message, hint, .. }) = Problem::of_scripts(&self.path_of(key), None) {
            return self.report(path, message, &hint);
        }
        let table = elsewhere.iter().find(|(_, keys)| keys.contains(&key)).map(|(table, _)| table);
        let hint = table.map(|table| format!("write it as `{table}.{key}`"));
        let hint = hint.or_else(|| did_you_mean_key(key, known));
        let hint = hint.unwrap_or_else(|| match known.len() {
            ..=MOST_LISTED => format!("the keys here are {}", known.join(", ")),
            _ => "remove it: no key here is similar".to_owned(),
        });
        self.report(self.path_of(&excerpt(key)), "unknown key".to_owned(), &hint);
    }

    /// Reports a problem of a key of this table.
    pub(super) fn problem(&mut self, key: &str, message: String, hint: &str) {
        self.report(self.path_of(key), message, hint);
    }

    fn report(&mut self, path: String, message: String, hint: &str) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem::new(path, message, hint));
        }
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// Returns true for what configs said of mistakes that had none, as they are stored with jobs of earlier versions.
pub(super) fn is_spent(key: &str, value: &Value) -> bool {
    key == "mistakes" && *value == Value::List(Vec::new())
}

impl FromValue for bool {
    const EXPECTED: &str = "true or false";

    fn from_value(value: &Value, _: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }
}

impl FromValue for u64 {
    const EXPECTED: &str = "a whole number";

    /// Also accepts `1e3`, which all three formats read as a real number.
    fn from_value(value: &Value, _: &mut Reader<'_>) -> Option<Self> {
        const EXACT: f64 = (1_u64 << 53) as f64;
        match value {
            Value::Whole(value) => Self::try_from(*value).ok(),
            Value::Real(value) if value.fract() == 0.0 && (0.0..=EXACT).contains(value) => Some(*value as Self),
            _ => None,
        }
    }
}

impl FromValue for f64 {
    const EXPECTED: &str = "a number";

    fn from_value(value: &Value, _: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Whole(value) => Some(*value as Self),
            Value::Real(value) if value.is_finite() => Some(*value),
            _ => None,
        }
    }
}

impl FromValue for String {
    const EXPECTED: &str = "a string";

    fn from_value(value: &Value, _: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromValue for Vec<String> {
    const EXPECTED: &str = "a list of strings";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::List(items) => items.iter().map(|item| String::from_value(item, reader)).collect(),
            _ => None,
        }
    }
}
