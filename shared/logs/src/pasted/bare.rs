//! Takes off a line what terminals, mails, pages and collectors of logs have put around it.

use memchr::memchr3;

/// Keys under which collectors of logs keep what a program printed: Docker, Kubernetes, and loggers that write JSON.
const TEXTS: &str = "log message msg text line event body MESSAGE error exception exc_info traceback stack_trace stack";

const TRACEBACK: &str = "Traceback (most recent call last):";

/// Passes what a line contains to `visit`: itself, nothing, or the lines that are escaped in it.
pub(super) fn each(line: &str, visit: &mut impl FnMut(&str)) {
    // Nearly all lines are bare.
    let begins = line.trim_ascii_start().as_bytes().first();
    let is_marked =
        matches!(begins, Some(b'>' | b'`' | b'~' | b'#')) || memchr3(0x1b, b'\\', b'{', line.as_bytes()).is_some();
    if !is_marked && line.is_ascii() && !line.contains("call last):") {
        return visit(line);
    }
    let line = bare(line);
    let is_fence = |mark: &str| line.trim().strip_prefix(mark).is_some_and(|rest| !rest.contains([' ', '`']));
    let mut has_texts = false;
    if let Some(start) = line.find("{\"") {
        each_text(&line[start..], &mut |text| {
            has_texts = true;
            text.lines().for_each(|line| each_line(&bare(line), visit));
        });
    }
    if !(has_texts || is_fence("```") || is_fence("~~~")) {
        each_line(&line, visit);
    }
}

/// Returns a line without colors, marks of quotations and commented tables, the sides of a box, and with plain spaces and quotes.
fn bare(line: &str) -> String {
    let mut bare = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            '\x1b' => skip_sequence(&mut rest),
            '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}' => {}
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => bare.push(' '),
            // Forums set them.
            '“' | '”' => bare.push('"'),
            '‘' | '’' => bare.push('\''),
            c => bare.push(c),
        }
    }
    let mut text = bare.as_str();
    while let Some(quoted) = text.trim_start().strip_prefix('>') {
        text = quoted.strip_prefix(' ').unwrap_or(quoted);
    }
    if let Some(table) = text.trim_start().strip_prefix('#').filter(|rest| rest.trim_start().starts_with(['|', '+'])) {
        text = table;
    }
    let is_side = |c: char| ('\u{2500}'..='\u{257f}').contains(&c);
    if let Some(boxed) = text.trim_start().strip_prefix(is_side) {
        text = boxed.trim_matches(is_side).trim_end();
        if text.contains('│') {
            // Cells of a table.
            return format!("|{}|", text.replace('│', "|"));
        }
        text = text.strip_prefix(' ').unwrap_or(text);
    }
    text.to_owned()
}

/// Skips what follows the escape character: `[1;31m`, `]8;;link` up to its end, or one letter.
fn skip_sequence(rest: &mut std::str::Chars<'_>) {
    match rest.next() {
        Some('[') => drop(rest.find(|c| ('@'..='~').contains(c))),
        Some(']') => drop(rest.find(|c| matches!(c, '\x07' | '\\'))),
        Some('(' | ')') => drop(rest.next()),
        _ => {}
    }
}

/// Passes the texts of a JSON record to `visit`, without their escapes; the record may be cut.
fn each_text(record: &str, visit: &mut impl FnMut(&str)) {
    let mut rest = record;
    while let Some(start) = rest.find('"') {
        let (word, after) = unescaped(&rest[start + 1..]);
        rest = after;
        let value = after.trim_start().strip_prefix(':').map(str::trim_start);
        if let Some(value) = value.and_then(|value| value.strip_prefix('"')) {
            let (text, after) = unescaped(value);
            rest = after;
            if TEXTS.split(' ').any(|text| text == word) || says_memory(&text) {
                visit(&text);
            }
        } else if value.is_none() && says_memory(&word) {
            // An item of a list.
            visit(&word);
        }
    }
}

fn says_memory(text: &str) -> bool {
    text.contains("emory") && text.contains(' ')
}

/// Returns a string of JSON without its escapes, and what follows its closing quotation mark.
fn unescaped(text: &str) -> (String, &str) {
    let mut string = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        string.push(match c {
            '"' => break,
            '\\' => match rest.next() {
                Some('n' | 'r') => '\n',
                Some('t') => '\t',
                Some('u') => {
                    let digits = rest.as_str().get(..4).unwrap_or_default();
                    rest = rest.as_str()[digits.len()..].chars();
                    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
                }
                Some(c) => c,
                None => break,
            },
            c => c,
        });
    }
    (string, rest.as_str())
}

/// Passes a line to `visit`, or the lines of a traceback that stands in it as one string.
fn each_line(line: &str, visit: &mut impl FnMut(&str)) {
    let Some(end) = line.find(TRACEBACK).map(|start| start + TRACEBACK.len()) else { return visit(line) };
    visit(&line[..end]);
    let mut rest = &line[end..];
    if rest.starts_with("\\n") {
        return rest.split("\\n").filter(|line| !line.is_empty()).for_each(visit);
    }
    while let Some(end) = frame_end(rest) {
        visit(&rest[..end]);
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        visit(rest);
    }
}

/// Returns the end of `File "train.py", line 3, in main`.
fn frame_end(text: &str) -> Option<usize> {
    let number = text.find("\", line ")? + "\", line ".len();
    let digits = text[number..].find(|c: char| !c.is_ascii_digit())?;
    let name = text[number + digits..].strip_prefix(", in ")?;
    Some(text.len() - name.len() + name.find(' ')?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let mut lines = Vec::new();
        each(line, &mut |line| lines.push(line.to_owned()));
        assert_eq!(lines, expected, "{line}");
    }

    #[test]
    fn what_is_around_a_line_is_taken_off() {
        check("step 1 | loss 0.5", &["step 1 | loss 0.5"]);
        check("\x1b[1;31mRuntimeError\x1b[0m: \x1b]8;;https://a\x07out\x1b]8;;\x1b\\ of", &["RuntimeError: out of"]);
        check("> > Tried to\u{a0}allocate 2\u{202f}GiB", &["Tried to allocate 2 GiB"]);
        check(">>   File", &["  File"]);
        check("# | 0  Tesla T4", &[" | 0  Tesla T4"]);
        check("# memory: 4 KiB", &["# memory: 4 KiB"]);
        check("File “a.py”, line 3", &["File \"a.py\", line 3"]);
        check("│ 12.5 GiB free    │", &["12.5 GiB free"]);
        check("╭───────╮", &[""]);
        check(" 45%|████▌     | 120/500", &[" 45%|████▌     | 120/500"]);
        check("```python", &[]);
        check("~~~", &[]);
        check("```CUDA out of memory```", &["```CUDA out of memory```"]);
    }

    #[test]
    fn records_hold_lines() {
        check(r#"{"log":"one\n  \"two\" C:\\nn\n","stream":"stderr"}"#, &["one", "  \"two\" C:\\nn"]);
        check(r#"pod-1 | {"ts": 1, "msg" : "\u001b[31mA\u00a0B", "exc_info": "C"}"#, &["A B", "C"]);
        check(r#"{"level":"error","message":"cut in the mid"#, &["cut in the mid"]);
        check(r#"{"error":"unknown","warnings":["CUDA out of memory","x"]}"#, &["unknown", "CUDA out of memory"]);
        let counters = r#"{"num_ooms": 1, "name": "message"}"#;
        check(counters, &[counters]);
    }

    #[test]
    fn a_traceback_in_one_string_is_lines() {
        let lines = ["E Traceback (most recent call last):", r#"  File "a.py", line 3, in f"#, "    g()", "E: out"];
        check(&lines.join("\\n"), &lines);
        let record = format!("{{\"error\":{:?}}}", lines.join("\n"));
        check(&record, &lines);
        let line =
            r#"Traceback (most recent call last): File "a.py", line 3, in f g() File "b.py", line 4, in h i E: out"#;
        let split = [
            "Traceback (most recent call last):",
            r#" File "a.py", line 3, in f"#,
            r#" g() File "b.py", line 4, in h"#,
            " i E: out",
        ];
        check(line, &split);
        let path = r#"  File "C:\torch\nn\module.py", line 3, in f"#;
        check(path, &[path]);
    }
}
