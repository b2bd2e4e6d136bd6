//! One value of a table, and how each format has it.

use crate::analysis::place;
use crate::base::format;
use crate::export::pieces::quoted;
use crate::export::subject::Subject;
use crate::trace::StackId;
use std::borrow::Cow;

/// A value of a table.
#[derive(Clone, Debug)]
pub enum Cell<'a> {
    /// It is not known, or there is none.
    Nothing,
    /// A number.
    Number(i128),
    /// Whether something is so.
    Flag(bool),
    /// A device address, written as PyTorch prints it: JSON's numbers would lose digits of it.
    Address(u64),
    /// A text.
    Text(Cow<'a, str>),
    /// Several numbers.
    Numbers(Vec<u32>),
    /// The frames of a stack, innermost first.
    Frames(StackId),
}

impl<'a> Cell<'a> {
    /// A number.
    pub fn number(number: impl Into<i128>) -> Self {
        Self::Number(number.into())
    }

    /// A text.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// A text that is left out where it is empty.
    pub fn some_text(text: &'a str) -> Self {
        if text.is_empty() { Self::Nothing } else { Self::text(text) }
    }

    /// The number of a stack in this file, the same in every table; none where no frames were recorded.
    pub fn stack(stack: StackId) -> Self {
        if stack.has_frames() { Self::Number(stack.index() as i128) } else { Self::Nothing }
    }

    pub(super) fn csv(&self, subject: &Subject<'_>) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Address(addr) => format::address(*addr),
            Self::Text(text) => csv_text(text),
            Self::Numbers(numbers) => numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
            Self::Frames(stack) => {
                let places = subject.frames(*stack).map(|(name, filename, line)| place(name, filename, line));
                csv_text(&places.collect::<Vec<_>>().join(" < "))
            }
        }
    }

    pub(super) fn json(&self, subject: &Subject<'_>) -> String {
        match self {
            Self::Nothing => "null".to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Address(addr) => format!("\"{}\"", format::address(*addr)),
            Self::Text(text) => quoted(text),
            Self::Numbers(numbers) => {
                format!("[{}]", numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
            }
            Self::Frames(stack) => {
                let frame = |(name, filename, line): (&str, &str, u64)| {
                    format!("{{\"name\":{},\"filename\":{},\"line\":{line}}}", quoted(name), quoted(filename))
                };
                format!("[{}]", subject.frames(*stack).map(frame).collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl<T: Into<i128>> From<Option<T>> for Cell<'_> {
    fn from(number: Option<T>) -> Self {
        number.map_or(Self::Nothing, Self::number)
    }
}

/// A text in CSV, harmless in a spreadsheet.
pub fn csv_text(text: &str) -> String {
    // What spreadsheets take for the start of a formula; they skip blanks and tabs before it.
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@']) || text.starts_with(['\t', '\r']);
    let apostrophe = if is_formula { "'" } else { "" };
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{apostrophe}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{apostrophe}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_need_it() {
        assert_eq!(csv_text("relu (main.py:3)"), "relu (main.py:3)");
        assert_eq!(csv_text("f(a, b)"), "\"f(a, b)\"");
        assert_eq!(csv_text("say \"hi\"\nthere"), "\"say \"\"hi\"\"\nthere\"");
        assert_eq!(csv_text(""), "");
    }

    #[test]
    fn a_spreadsheet_finds_no_formula() {
        assert_eq!(csv_text("=1+1"), "'=1+1");
        assert_eq!(csv_text("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(csv_text(" @SUM(A1,A2)"), "\"' @SUM(A1,A2)\"");
        assert_eq!(csv_text("\t-2"), "'\t-2");
        assert_eq!(csv_text("a=b"), "a=b");
    }
}
