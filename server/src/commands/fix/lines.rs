//! Writes what the user has to add: edits of the script, each below a comment that says where, and the command.

use std::collections::BTreeMap;
use std::ffi::OsString;

use shared::api::{EditPlace, RemedyEdit};

use crate::commands::run::shown;

/// Puts edits in the order of their places, and joins those of one place.
pub(super) fn merge(edits: impl IntoIterator<Item = RemedyEdit>) -> Vec<RemedyEdit> {
    let mut by_place: BTreeMap<(String, u64, u8), RemedyEdit> = BTreeMap::new();
    for edit in edits {
        // A rewritten statement stands between what comes before and after it.
        let order = match edit.place {
            EditPlace::Before => 0,
            EditPlace::Instead => 1,
            EditPlace::After => 2,
            EditPlace::Command => 3,
        };
        let joint = if edit.place == EditPlace::Command { " " } else { "\n" };
        by_place
            .entry((edit.file.clone(), edit.line, order))
            .and_modify(|known| {
                if !known.text.contains(&edit.text) {
                    known.text = format!("{}{joint}{}", known.text, edit.text);
                }
            })
            .or_insert(edit);
    }
    by_place.into_values().collect()
}

/// Lists edits as lines, and the command with a variable before it and words behind it if any are needed.
pub(super) fn listed(edits: &[RemedyEdit], variable: Option<&str>, command: &[OsString]) -> Vec<String> {
    let mut lines = Vec::new();
    for edit in edits.iter().filter(|edit| edit.place != EditPlace::Command) {
        let place = match edit.place {
            EditPlace::Before => format!("before line {}", edit.line),
            EditPlace::After => format!("after line {}", edit.last),
            EditPlace::Instead | EditPlace::Command if edit.last > edit.line => {
                format!("instead of lines {} to {}", edit.line, edit.last)
            }
            EditPlace::Instead | EditPlace::Command => format!("instead of line {}", edit.line),
        };
        lines.push(format!("# {}, {place}:", shown(&edit.file)));
        lines.extend(edit.text.lines().map(str::to_owned));
    }
    let words = edits.iter().filter(|edit| edit.place == EditPlace::Command).map(|edit| edit.text.clone());
    let words: Vec<String> = words.collect();
    if variable.is_some() || !words.is_empty() {
        let command = command.iter().map(|word| word.to_string_lossy().into_owned());
        let all: Vec<_> = variable.map(str::to_owned).into_iter().chain(command).chain(words).collect();
        lines.push("# the command:".to_owned());
        lines.push(all.join(" "));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(place: EditPlace, line: u64, text: &str) -> RemedyEdit {
        RemedyEdit { place, text: text.to_owned(), file: "/a/train.py".to_owned(), line, last: line }
    }

    #[test]
    fn lines_say_where_they_go() {
        let edits = merge([
            edit(EditPlace::After, 9, "c()"),
            edit(EditPlace::Before, 9, "import a"),
            edit(EditPlace::Instead, 9, "    b()"),
            edit(EditPlace::Before, 9, "import b"),
            edit(EditPlace::Before, 9, "import a"),
            RemedyEdit { file: String::new(), line: 0, last: 0, ..edit(EditPlace::Command, 0, "--batch 2") },
        ]);
        let command = ["python", "train.py"].map(OsString::from);
        let expected = [
            "# /a/train.py, before line 9:",
            "import a",
            "import b",
            "# /a/train.py, instead of line 9:",
            "    b()",
            "# /a/train.py, after line 9:",
            "c()",
            "# the command:",
            "X=1 python train.py --batch 2",
        ];
        assert_eq!(listed(&edits, Some("X=1"), &command), expected);
        assert_eq!(listed(&[], None, &command), Vec::<String>::new());
    }
}
