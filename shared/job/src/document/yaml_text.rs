//! Parses YAML into values.
//!
//! The parser emits events, and the tree is built here: aliases repeat their anchor's value, and each repetition counts
//! against the document's bounds, so that a few lines can't expand to gigabytes.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

use super::super::problem::{Place, Problem, excerpt};
use super::value::{Budget, HINT_BOUND, Value};

pub(super) fn parse(text: &str) -> Result<Value, Problem> {
    let mut builder = Builder { budget: Budget::new(), open: Vec::new(), anchors: HashMap::new(), root: None };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| syntax(&error))?;
        let place = Place { line: span.start.line(), column: span.start.col() + 1 };
        builder.event(event).map_err(|wrong| Problem::in_text(Some(place), wrong.message, wrong.hint))?;
    }
    Ok(builder.root.unwrap_or(Value::Null))
}

fn syntax(error: &ScanError) -> Problem {
    let place = Place { line: error.marker().line(), column: error.marker().col() + 1 };
    Problem::in_text(Some(place), format!("not valid YAML: {}", error.info()), "")
}

/// Error that stops the parsing.
struct Wrong {
    message: String,
    hint: &'static str,
}

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        Self { message, hint: HINT_BOUND }
    }
}

/// A list or table that has not ended.
enum Open {
    List { anchor: usize, items: Vec<Value> },
    Table { anchor: usize, entries: Vec<(String, Value)>, keys: HashSet<String>, key: Option<String> },
}

struct Builder {
    budget: Budget,
    open: Vec<Open>,
    anchors: HashMap<usize, Value>,
    root: Option<Value>,
}

impl Builder {
    fn event(&mut self, event: Event<'_>) -> Result<(), Wrong> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.value(anchor, scalar(&text, style, tag.as_ref().map(AsRef::as_ref)))
            }
            Event::SequenceStart(anchor, _) => self.start(Open::List { anchor, items: Vec::new() }),
            Event::MappingStart(anchor, _) => {
                self.start(Open::Table { anchor, entries: Vec::new(), keys: HashSet::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { anchor, items }) => self.finished(anchor, Value::List(items)),
                Some(Open::Table { anchor, entries, .. }) => self.finished(anchor, Value::Table(entries)),
                None => Ok(()),
            },
            Event::Alias(anchor) => self.alias(anchor),
            Event::DocumentStart(_) if self.root.is_some() => Err(Wrong {
                message: "a second document begins here".to_owned(),
                hint: "a config must be one document",
            }),
            _ => Ok(()),
        }
    }

    fn start(&mut self, open: Open) -> Result<(), Wrong> {
        self.budget.take(self.open.len())?;
        self.open.push(open);
        Ok(())
    }

    fn value(&mut self, anchor: usize, value: Value) -> Result<(), Wrong> {
        self.budget.take(self.open.len())?;
        self.finished(anchor, value)
    }

    /// Adds a complete value to the list or table around it, and stores it under its anchor (0 is none).
    fn finished(&mut self, anchor: usize, value: Value) -> Result<(), Wrong> {
        if anchor > 0 {
            self.repeat(&value, self.open.len())?;
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::List { items, .. }) => items.push(value),
            Some(Open::Table { entries, keys, key, .. }) => match key.take() {
                Some(key) => entries.push((key, value)),
                None => *key = Some(new_key(value, keys)?),
            },
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize) -> Result<(), Wrong> {
        let Some(value) = self.anchors.get(&anchor).cloned() else {
            let message = "an alias inside the value that it refers to".to_owned();
            return Err(Wrong { message, hint: "write the value out" });
        };
        self.repeat(&value, self.open.len())?;
        self.finished(0, value)
    }

    /// Counts a value that is written once and repeated in memory against the bounds.
    fn repeat(&mut self, value: &Value, depth: usize) -> Result<(), Wrong> {
        self.budget.take(depth)?;
        match value {
            Value::List(items) => items.iter().try_for_each(|item| self.repeat(item, depth + 1)),
            Value::Table(entries) => entries.iter().try_for_each(|(key, item)| {
                self.budget.take_repeated(key)?;
                self.repeat(item, depth + 1)
            }),
            Value::Text(text) => Ok(self.budget.take_repeated(text)?),
            _ => Ok(()),
        }
    }
}

/// Returns the key of a table, which must not be in `keys` yet.
fn new_key(value: Value, keys: &mut HashSet<String>) -> Result<String, Wrong> {
    let key = match value {
        Value::Text(text) => text,
        Value::List(_) | Value::Table(_) => {
            return Err(Wrong {
                message: "a key cannot be a list or a table".to_owned(),
                hint: "write a word as the key",
            });
        }
        plain => plain.describe(),
    };
    if keys.insert(key.clone()) {
        return Ok(key);
    }
    Err(Wrong { message: format!("the key `{}` appears twice", excerpt(&key)), hint: "keep one of them" })
}

/// Returns the value of a scalar: plain ones by the core schema, quoted ones as text.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    if style == ScalarStyle::Plain && !is_text { plain(text) } else { Value::Text(text.to_owned()) }
}

/// Parses a plain scalar by the core schema of YAML 1.2 (section 10.3.2).
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Real(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" => return Value::Real(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Value::Real(f64::NEG_INFINITY),
        _ => {}
    }
    let based = [("0x", 16), ("0o", 8)].into_iter().find_map(|(start, base)| {
        i64::from_str_radix(text.strip_prefix(start).filter(|digits| !digits.starts_with(['+', '-']))?, base).ok()
    });
    if let Some(value) = based.or_else(|| text.parse().ok()) {
        return Value::Whole(value);
    }
    // Rust also parses words such as `infinity` as floats, which are plain text in YAML.
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match text.parse() {
        Ok(value) if is_number => Value::Real(value),
        _ => Value::Text(text.to_owned()),
    }
}
