//! Finds paths inside other texts, such as source lines and users' metadata.

/// Characters that, like white space, end a path without quotes.
const ENDS: &str = "\"'`,;()[]{}<>|";

/// Scheme before a path that is written as a URL.
const FILE_SCHEME: &str = "file://";

/// Replaces each path in a text by the result of `cut`; returns `None` if nothing changed.
///
/// A path is not relative and has at least one folder; in quotes it may contain spaces.
pub(super) fn with_paths(text: &str, mut cut: impl FnMut(&str) -> Option<String>) -> Option<String> {
    let mut clean = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some((start, end)) = next_path(text, at) {
        if let Some(short) = cut(&text[start..end]) {
            clean.push_str(&text[from..start]);
            // `-Lnn/x.py` would read as a flag `-Lnn` before the path `/x.py` in a second cleaning.
            if is_flag(&text[..start]) && short.contains(['/', '\\']) && short.len() < end - start {
                clean.push('*');
            }
            clean.push_str(&short);
            from = end;
        }
        at = end;
    }
    (from > 0).then(|| clean + &text[from..])
}

/// Returns the start and the end of the first path at or after a position.
fn next_path(text: &str, from: usize) -> Option<(usize, usize)> {
    let mut before = text[..from].chars().next_back();
    for (offset, c) in text[from..].char_indices() {
        let start = from + offset;
        let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '/' | '\\' | '*' | ')' | ']');
        let is_start =
            !before.is_some_and(is_inside) || text[..start].ends_with(FILE_SCHEME) || is_flag(&text[..start]);
        if is_start && begins(&text[start..]) {
            let end = start + length(&text[start..], before);
            if is_path(&text[start..end]) {
                return Some((start, end));
            }
        }
        before = Some(c);
    }
    None
}

/// Returns true if a text ends in a flag that a path follows directly, such as `-I/usr/include`.
fn is_flag(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || ENDS.contains(c)).next().unwrap_or_default();
    word.strip_prefix('-').is_some_and(|flag| !flag.is_empty() && flag.chars().all(|c| c.is_ascii_alphabetic()))
}

fn begins(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes {
        [b'/', b'/' | b'*' | b' ' | b'=', ..] => false,
        [b'/', ..] | [b'~', b'/', ..] | [b'\\', b'\\', ..] => true,
        [b'~', letter, ..] | [letter, b':', b'/' | b'\\', ..] => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Returns the length of a path, up to the closing quote or else up to a character that no path contains.
fn length(text: &str, before: Option<char>) -> usize {
    if let Some(quote) = before.filter(|c| matches!(c, '"' | '\'' | '`')) {
        let line = text.find('\n').unwrap_or(text.len());
        if let Some(end) = text[..line].find(quote) {
            return end;
        }
    }
    let mut end = word_end(text, 0);
    // A folder may have a space in its name: a following word that looks like a path belongs to it.
    while !text[..end].rsplit(['/', '\\']).next().unwrap_or_default().contains('.') && text[end..].starts_with(' ') {
        let next = word_end(text, end + 1);
        let word = &text[end + 1..next];
        if word.starts_with(['/', '\\', '-']) || !word.contains(['/', '\\']) || word.contains([':', '=', '@']) {
            break;
        }
        end = next;
    }
    // `file.py:12` names a line; the colon of a drive is the second character and does not count.
    text[..end].char_indices().skip(2).find(|(_, c)| *c == ':').map_or(end, |(colon, _)| colon)
}

fn word_end(text: &str, from: usize) -> usize {
    text[from..].find(|c: char| c.is_whitespace() || ENDS.contains(c)).map_or(text.len(), |length| from + length)
}

fn is_path(text: &str) -> bool {
    let parts = text.split(['/', '\\']).filter(|part| !part.is_empty());
    parts.take(2).count() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let last = |path: &str| path.rsplit(['/', '\\']).next().map(str::to_owned);
        assert_eq!(with_paths(text, last).as_deref().unwrap_or(text), expected);
    }

    #[test]
    fn paths_are_found_among_words() {
        check("  File \"/home/ada/my proj/x.py\", line 3, in f", "  File \"x.py\", line 3, in f");
        check("/a/x.py:12 and ~/b/y.py; z", "x.py:12 and y.py; z");
        check(r"at C:\Users\Ada\x.py:7", "at x.py:7");
        check(r#"{"run": "/data/ada/run1", "n": 2}"#, r#"{"run": "run1", "n": 2}"#);
        check("path=/a/b,/c/d", "path=b,d");
        check(r"from \\nas\team\x.py", "from x.py");
        check("file:///home/ada/x.py", "file://x.py");
        check("cc -I/fsx/ada/inc -isystem/usr/inc", "cc -Iinc -isysteminc");
        check(r"C:\Users\Ada Byron\x.py failed", "x.py failed");
        check("/Users/ada/My Drive/x.py is a/b", "x.py is a/b");
    }

    #[test]
    fn what_is_left_behind_a_flag_is_no_other_flag() {
        let two = |path: &str| path.match_indices('/').nth(1).map(|(slash, _)| path[slash + 1..].to_owned());
        let once = with_paths("y -es/torch/nn/modules/x.py", two).expect("a path");
        assert_eq!(once, "y -es*nn/modules/x.py");
        assert_eq!(with_paths(&once, two), None);
    }

    #[test]
    fn other_slashes_stay() {
        for text in [
            "a / b",
            "bwd:step0/fwd/block0",
            "x //y",
            "/",
            "s/GiB",
            "a/b/c",
            "https://host/a/b",
            "/one",
            "c++/* x */",
            "N/A",
        ] {
            check(text, text);
        }
    }
}
