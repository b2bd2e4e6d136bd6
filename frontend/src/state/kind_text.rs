//! Converts selected kinds to words of an address and back.
//!
//! ```text
//! of:e310          the stack of the allocation of event 310; of:i2 from before the trace
//! stack:9f3e       category:activation       line:12ab       function:77c0
//! module:0f0e      frame:1122                find:adam       expression:adam%7Csgd
//! ```

use super::choices::escape::{MOST_TEXT_BYTES, escaped, unescaped};
use crate::ask::{AllocationKey, GroupBy, GroupMark, Kind, NameMark};
use shared::analysis::Category;

/// Returns the words for a kind, `None` for a text that is too long for an address.
pub(super) fn text_of(kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::StackOf(key) => format!("of:{}", key_text(*key)),
        Kind::Stack(mark) => format!("stack:{mark}"),
        Kind::Category(category) => format!("category:{}", category.name()),
        Kind::Group(GroupMark { by, mark }) => format!("group-{}:{mark}", by.name()),
        Kind::Site { mark, is_line: true } => format!("line:{mark}"),
        Kind::Site { mark, is_line: false } => format!("function:{mark}"),
        Kind::Text { text, is_expression } if text.len() <= MOST_TEXT_BYTES => {
            format!("{}:{}", if *is_expression { "expression" } else { "find" }, escaped(text))
        }
        Kind::Text { .. } => return None,
    })
}

/// Parses the words for a kind; words that this version does not know are no kind.
pub(super) fn kind_of(text: &str) -> Option<Kind> {
    let (word, value) = text.split_once(':')?;
    let mark = || NameMark::of_text(value);
    let typed = |is_expression| {
        let text = unescaped(value);
        (!text.is_empty() && text.len() <= MOST_TEXT_BYTES).then_some(Kind::Text { text, is_expression })
    };
    match word {
        "of" => key_of(value).map(Kind::StackOf),
        "stack" => mark().map(Kind::Stack),
        "category" => Category::of_name(value).map(Kind::Category),
        "line" => mark().map(|mark| Kind::Site { mark, is_line: true }),
        "function" => mark().map(|mark| Kind::Site { mark, is_line: false }),
        "find" => typed(false),
        "expression" => typed(true),
        _ => {
            let by = word.strip_prefix("group-").and_then(GroupBy::of_name)?;
            mark().map(|mark| Kind::Group(GroupMark { by, mark }))
        }
    }
}

/// Returns the text of an allocation's key: `e310`, or `i2` for one from before the trace.
pub(super) fn key_text(key: AllocationKey) -> String {
    match key {
        AllocationKey::Initial(number) => format!("i{number}"),
        AllocationKey::Event(number) => format!("e{number}"),
    }
}

/// Parses the text of an allocation's key.
pub(super) fn key_of(text: &str) -> Option<AllocationKey> {
    match text.split_at_checked(1)? {
        ("i", number) => number.parse().ok().map(AllocationKey::Initial),
        ("e", number) => number.parse().ok().map(AllocationKey::Event),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_come_back() {
        let mark = NameMark::of(["relu"]);
        let text = |text: &str, is_expression| Kind::Text { text: text.to_owned(), is_expression };
        let groups = GroupBy::ALL.iter().map(|&by| Kind::Group(GroupMark { by, mark }));
        let all = [
            Kind::StackOf(AllocationKey::Event(310)),
            Kind::StackOf(AllocationKey::Initial(0)),
            Kind::Stack(mark),
            Kind::Site { mark, is_line: true },
            Kind::Site { mark, is_line: false },
            text("a;b=c", false),
            text("^adam|sgd$", true),
        ];
        let categories = Category::ALL.map(Kind::Category);
        for kind in all.into_iter().chain(groups).chain(categories) {
            let text = text_of(&kind).unwrap();
            assert!(!text.contains([';', '=']), "{text}");
            assert_eq!(kind_of(&text), Some(kind));
        }
        assert_eq!(text_of(&text(&"x".repeat(2000), false)), None);
    }

    #[test]
    fn other_words_are_no_kind() {
        for text in ["", "of", "of:x1", "of:e-1", "stack:relu", "category:smell", "group-smell:1", "find:", "é:1"] {
            assert_eq!(kind_of(text), None, "{text}");
        }
    }
}
