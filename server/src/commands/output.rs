//! What a command leaves: texts for standard output and standard error, and an exit status.

use std::path::Path;

use serde::Serialize;

use crate::Failure;

/// What a command prints, and its exit status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    pub text: String,
    pub stderr: String,
    pub status: u8,
}

impl Output {
    /// The text of a command that some files could not be read for: their failures set the exit status.
    pub(super) fn without(unread: &[Failure], text: String, status: u8) -> Self {
        let stderr: String = unread.iter().map(|failure| format!("{failure}\n")).collect();
        Self { text, stderr, status: if unread.is_empty() { status } else { Failure::EXIT_STATUS } }
    }
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<Failure> for Output {
    fn from(failure: Failure) -> Self {
        Self::without(&[failure], String::new(), 0)
    }
}

/// Colors the lines that begin with a severity, for a terminal; a JSON document has none.
pub fn colored(text: &str) -> String {
    const COLORS: [(&str, &str); 3] = [("error", "31"), ("warning", "33"), ("info", "36")];
    let color = |line: &str| {
        let (_, color) =
            COLORS.iter().find(|(name, _)| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', ' '])))?;
        let (head, title) = line.split_once(": ")?;
        Some(format!("\u{1b}[1;{color}m{head}:\u{1b}[0;1m {title}\u{1b}[0m"))
    };
    let lines = text.split('\n').map(|line| color(line).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| Failure::writing(file, &error))
}

/// Returns the document of `--json`.
pub(super) fn document(report: &impl Serialize) -> String {
    serde_json::to_string_pretty(report).expect("plain data can be written") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severities_are_colored_and_nothing_else() {
        let plain = "errors: 3\n  error: x\ninformation\n{\"error\": \"a: b\"}\n";
        assert_eq!(colored(plain), plain);
        assert_eq!(
            colored("warning on GPU 0: a climb: b\n  1. Do\n"),
            "\u{1b}[1;33mwarning on GPU 0:\u{1b}[0;1m a climb: b\u{1b}[0m\n  1. Do\n"
        );
    }
}
