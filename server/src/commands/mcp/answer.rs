//! An answer: a page to read, the same report as data, and the next useful questions; all of limited size.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::commands::printable;

/// Most characters of a page.
const MOST_TEXT: usize = 12_000;

/// Most characters of the data.
const MOST_DATA: usize = 24_000;

/// Most elements of a list, and of a list of frames or events.
const MOST_ELEMENTS: usize = 50;
const MOST_FRAMES: usize = 8;

/// Lists of which a few elements say enough.
const FRAMES: [&str; 7] = ["frames", "a_frames", "b_frames", "stack", "stacks", "events", "values_read"];

/// Answer of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    text: String,
    data: Map<String, Value>,
    next: Vec<String>,
}

impl Answer {
    /// Creates an answer from a page, and the report that it shows.
    pub(super) fn new(text: impl Into<String>, report: &impl Serialize) -> Self {
        let data = match serde_json::to_value(report).expect("plain data can be written") {
            Value::Object(fields) => fields,
            list => Map::from_iter([("rows".to_owned(), list)]),
        };
        Self { text: text.into(), data, next: Vec::new() }
    }

    /// Adds a question that is useful next, as a call of a tool with the reason.
    pub(super) fn then(mut self, question: impl Into<String>) -> Self {
        self.next.push(question.into());
        self
    }

    pub(super) fn then_if(self, holds: bool, question: impl FnOnce() -> String) -> Self {
        if holds { self.then(question()) } else { self }
    }

    /// Returns the answer in the form of the protocol.
    pub(super) fn result(self) -> CallToolResult {
        let mut text = bounded_text(&printable(&self.text));
        if !self.next.is_empty() {
            text = format!("{}\n\nNext:\n", text.trim_end());
            self.next.iter().for_each(|question| text += &format!("- {question}\n"));
        }
        let mut data = bounded(self.data);
        data.insert("next".to_owned(), json!(self.next));
        let mut result = CallToolResult::structured(Value::Object(data));
        result.content = vec![ContentBlock::text(text)];
        result
    }
}

/// Returns a failure in the form of the protocol: what happened, where, and what to do.
pub(super) fn refusal(failure: &Failure) -> CallToolResult {
    let text = format!("{}\nWhat to do: {}", failure.message, failure.hint);
    CallToolResult::error(vec![ContentBlock::text(printable(&text).into_owned())])
}

/// Cuts a page at the end of a line.
fn bounded_text(text: &str) -> String {
    let mut shown = String::new();
    let lines: Vec<&str> = text.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        if shown.len() + line.len() > MOST_TEXT {
            let left = lines.len() - number;
            return shown + &format!("… {left} more lines; ask for less, with `top` or a filter\n");
        }
        shown += line;
        shown.push('\n');
    }
    shown
}

/// Shortens lists until the data have the size that is allowed; what is left out is counted beside each list.
fn bounded(data: Map<String, Value>) -> Map<String, Value> {
    let (mut elements, mut frames) = (MOST_ELEMENTS, MOST_FRAMES);
    loop {
        let Value::Object(cut) = shortened(Value::Object(data.clone()), elements, frames) else { return data };
        if Value::Object(cut.clone()).to_string().len() <= MOST_DATA || elements == 1 {
            return cut;
        }
        (elements, frames) = (elements / 2, (frames / 2).max(1));
    }
}

fn shortened(value: Value, elements: usize, frames: usize) -> Value {
    match value {
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (name, field) in fields {
                let most = if FRAMES.contains(&name.as_str()) { frames } else { elements };
                if let Value::Array(list) = &field
                    && list.len() > most
                {
                    kept.insert(format!("{name}_left_out"), json!(list.len() - most));
                }
                kept.insert(name, cut(field, most, elements, frames));
            }
            Value::Object(kept)
        }
        list @ Value::Array(_) => cut(list, elements, elements, frames),
        plain => plain,
    }
}

fn cut(value: Value, most: usize, elements: usize, frames: usize) -> Value {
    match value {
        Value::Array(list) => list.into_iter().take(most).map(|one| shortened(one, elements, frames)).collect(),
        other => shortened(other, elements, frames),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_bounded_and_says_what_it_leaves_out() {
        let row = json!({ "title": "x".repeat(100), "frames": vec![json!({ "name": "f" }); 30] });
        let report = json!({ "groups": vec![row; 400], "bytes": 7 });
        let result = Answer::new("line\n".repeat(9000), &report).then("peak {}").result();
        let data = result.structured_content.unwrap();
        assert!(data.to_string().len() <= MOST_DATA + 100, "{}", data.to_string().len());
        let groups = data["groups"].as_array().unwrap().len();
        assert_eq!(data["groups_left_out"], 400 - groups);
        assert_eq!((&data["bytes"], &data["next"]), (&json!(7), &json!(["peak {}"])));
        let text = serde_json::to_value(&result.content).unwrap()[0]["text"].as_str().unwrap().to_owned();
        assert!(text.len() < MOST_TEXT + 200 && text.contains("more lines; ask for less"), "{}", text.len());
        assert!(text.ends_with("Next:\n- peak {}\n"), "{text}");
    }
}
