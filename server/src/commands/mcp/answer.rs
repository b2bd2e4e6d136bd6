//! An answer: a page to read, the same report as data, and the next useful questions; all of limited size.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::commands::{printable, text};

const MOST_TEXT: usize = 12_000;

const MOST_DATA: usize = 24_000;

/// Most elements of a list, and of a list of frames or events; most characters of a line or a text among the data.
const MOST_ELEMENTS: usize = 50;
const MOST_FRAMES: usize = 8;
const MOST_LETTERS: usize = 1_500;

/// Lists of which a few elements say enough.
const FRAMES: [&str; 7] = ["frames", "a_frames", "b_frames", "stack", "stacks", "events", "values_read"];

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
fn bounded_text(page: &str) -> String {
    let mut shown = String::new();
    let lines: Vec<&str> = page.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        let line = &*text::cut(line, MOST_LETTERS);
        if shown.len() + line.len() > MOST_TEXT {
            let left = lines.len() - number;
            return shown + &format!("… {left} more lines; ask for less, with `top` or a filter\n");
        }
        shown += line;
        shown.push('\n');
    }
    shown
}

/// Most parts of the data that are kept.
#[derive(Clone, Copy)]
struct Most {
    elements: usize,
    frames: usize,
    letters: usize,
}

/// Shortens lists and texts until the data have the size that is allowed; what is left out of a list is counted beside
/// it.
fn bounded(data: Map<String, Value>) -> Map<String, Value> {
    let mut most = Most { elements: MOST_ELEMENTS, frames: MOST_FRAMES, letters: MOST_LETTERS };
    while most.elements > 0 {
        let cut = most.fields(&data);
        if Value::Object(cut.clone()).to_string().len() <= MOST_DATA {
            return cut;
        }
        most = Most { elements: most.elements / 2, frames: (most.frames / 2).max(1), letters: most.letters * 2 / 3 };
    }
    Map::from_iter([("left_out".to_owned(), json!("all data, which are too large; ask for less"))])
}

impl Most {
    fn fields(self, fields: &Map<String, Value>) -> Map<String, Value> {
        let mut kept = Map::new();
        for (name, field) in fields {
            let most = if FRAMES.contains(&name.as_str()) { self.frames } else { self.elements };
            if let Value::Array(list) = field
                && list.len() > most
            {
                kept.insert(format!("{name}_left_out"), json!(list.len() - most));
            }
            kept.insert(name.clone(), self.value(field, most));
        }
        kept
    }

    fn value(self, value: &Value, elements: usize) -> Value {
        match value {
            Value::Object(fields) => Value::Object(self.fields(fields)),
            Value::Array(list) => list.iter().take(elements).map(|one| self.value(one, self.elements)).collect(),
            Value::String(text) => Value::String(text::cut(text, self.letters).into_owned()),
            plain => plain.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the data of an answer and its page.
    fn parts(answer: Answer) -> (Value, String) {
        let result = answer.result();
        let page = serde_json::to_value(&result.content).unwrap()[0]["text"].as_str().unwrap().to_owned();
        let data = result.structured_content.unwrap();
        assert!(data.to_string().len() <= MOST_DATA + 100, "{}", data.to_string().len());
        (data, page)
    }

    #[test]
    fn an_answer_is_bounded_and_says_what_it_leaves_out() {
        let row = json!({ "title": "x".repeat(100), "frames": vec![json!({ "name": "f" }); 30] });
        let report = json!({ "groups": vec![row; 400], "bytes": 7 });
        let (data, text) = parts(Answer::new("line\n".repeat(9000), &report).then("peak {}"));
        let groups = data["groups"].as_array().unwrap().len();
        assert_eq!(data["groups_left_out"], 400 - groups);
        assert_eq!((&data["bytes"], &data["next"]), (&json!(7), &json!(["peak {}"])));
        assert!(text.len() < MOST_TEXT + 200 && text.contains("more lines; ask for less"), "{}", text.len());
        assert!(text.ends_with("Next:\n- peak {}\n"), "{text}");
    }

    #[test]
    fn long_texts_are_cut_and_what_is_still_too_large_is_left_out() {
        let frame = json!({ "name": "x".repeat(500_000) });
        let report = json!({ "title": "y".repeat(500_000), "frames": vec![frame; 30] });
        let (data, page) = parts(Answer::new("z".repeat(500_000), &report));
        for text in [&data["title"], &data["frames"][0]["name"]] {
            assert!(text.as_str().unwrap().ends_with('…'), "{text}");
        }
        assert!(page.starts_with("zzz") && page.len() < MOST_TEXT && page.ends_with("z…\n"), "{page}");
        let wide: Map<String, Value> = (0..9_000).map(|number| (format!("field {number}"), json!(1))).collect();
        let left_out = "all data, which are too large; ask for less";
        assert_eq!(parts(Answer::new("", &wide)).0, json!({ "left_out": left_out, "next": [] }));
    }
}
