//! Outlines of documents: their outermost levels, by which they are identified.

/// Value with its contents to a depth of a few levels.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Outline {
    /// Table, by the names of its keys.
    Table(Vec<String>),
    /// First items of a list, and the number of its items, as far as they were read.
    List(Vec<Outline>, usize),
    Number(f64),
    /// Text, or its beginning.
    Text(String),
    /// Part of a snapshot: a row, or a list of rows.
    Part,
    Other,
}

/// Maximum number of levels inspected.
pub(in super::super) const MOST_LEVELS: usize = 4;
/// Maximum number of items kept per list.
pub(in super::super) const MOST_ITEMS: usize = 8;
/// Maximum number of keys kept per table.
pub(in super::super) const MOST_KEYS: usize = 256;

impl Outline {
    /// Builds the outline of a JSON text that may be truncated.
    ///
    /// It accepts errors that a parser rejects, such as comments, because the text could not be read anyway.
    /// Its time is linear in the length of the text.
    pub(in super::super) fn of_json(text: &[u8]) -> Self {
        Scan { text, at: 0 }.value(0)
    }

    /// Returns true for a table with all of these keys.
    pub(super) fn has(&self, wanted: &[&str]) -> bool {
        matches!(self, Self::Table(keys) if wanted.iter().all(|&name| keys.iter().any(|key| key == name)))
    }

    /// Returns the first items of a list.
    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::List(items, _) => items,
            _ => &[],
        }
    }

    /// Describes the value; a JSON object is called a dictionary, as in Python.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Table(keys) if keys.is_empty() => "an empty dictionary".to_owned(),
            Self::Table(keys) => format!("a dictionary with {}", keys_in_words(keys)),
            Self::List(items, len) => match items.first() {
                None => "an empty list".to_owned(),
                Some(Self::Table(keys)) if !keys.is_empty() => {
                    format!("a list of {} with {}", plural(*len, "dictionary", "dictionaries"), keys_in_words(keys))
                }
                Some(Self::Table(_)) => format!("a list of {}", plural(*len, "dictionary", "dictionaries")),
                Some(Self::List(..)) => format!("a list of {}", plural(*len, "list", "lists")),
                Some(Self::Number(_)) => format!("a list of {}", plural(*len, "number", "numbers")),
                Some(Self::Text(_)) => format!("a list of {}", plural(*len, "string", "strings")),
                Some(_) => format!("a list of {}", plural(*len, "value", "values")),
            },
            Self::Number(_) => "a number".to_owned(),
            Self::Text(_) => "a string".to_owned(),
            Self::Part => "part of a snapshot".to_owned(),
            Self::Other => "a single value".to_owned(),
        }
    }
}

/// Formats a count and its noun: `1 list`, `7 lists`.
fn plural(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {many}", crate::base::format::count(count as u64)) }
}

fn keys_in_words(keys: &[String]) -> String {
    const SHOWN: usize = 5;
    const LONGEST: usize = 32;
    let shown = |key: &String| {
        let start: String = key.chars().take(LONGEST).collect();
        if start.len() < key.len() { format!("\"{start}…\"") } else { format!("\"{start}\"") }
    };
    let mut words: Vec<String> = keys.iter().take(SHOWN).map(shown).collect();
    if keys.len() > SHOWN {
        words.push(format!("{} more", keys.len() - SHOWN));
    }
    format!("the {} {}", if keys.len() == 1 { "key" } else { "keys" }, words.join(", "))
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn value(&mut self, level: usize) -> Outline {
        self.skip_blanks();
        match self.text.get(self.at) {
            Some(b'{' | b'[') if level >= MOST_LEVELS => {
                self.skip_nested();
                Outline::Other
            }
            Some(b'{') => self.table(level),
            Some(b'[') => self.list(level),
            Some(b'"') => Outline::Text(self.string()),
            Some(_) => self.word(),
            None => Outline::Other,
        }
    }

    fn table(&mut self, level: usize) -> Outline {
        let mut keys = Vec::new();
        self.at += 1;
        loop {
            self.skip_blanks();
            match self.text.get(self.at) {
                Some(b'"') => {
                    let key = self.string();
                    if keys.len() < MOST_KEYS {
                        keys.push(key);
                    }
                    self.skip_blanks();
                    if self.text.get(self.at) == Some(&b':') {
                        self.at += 1;
                        self.value(level + 1);
                    }
                }
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Outline::Table(keys);
                }
                _ => return self.given_up(Outline::Table(keys)),
            }
        }
    }

    fn list(&mut self, level: usize) -> Outline {
        let (mut items, mut len) = (Vec::new(), 0);
        self.at += 1;
        loop {
            self.skip_blanks();
            match self.text.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Outline::List(items, len);
                }
                Some(b'}' | b':') | None => return self.given_up(Outline::List(items, len)),
                Some(_) => {
                    let item = self.value(level + 1);
                    len += 1;
                    if items.len() < MOST_ITEMS {
                        items.push(item);
                    }
                }
            }
        }
    }

    /// Ends the scan, because nothing after invalid JSON can be interpreted.
    fn given_up(&mut self, found: Outline) -> Outline {
        self.at = self.text.len();
        found
    }

    /// Reads the text behind a quote up to the next one; escapes are not decoded.
    fn string(&mut self) -> String {
        const LONGEST: usize = 80;
        let start = self.at + 1;
        self.at = start;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        let end = self.at.min(self.text.len());
        self.at = (end + 1).min(self.text.len());
        String::from_utf8_lossy(&self.text[start.min(end)..end.min(start + LONGEST)]).into_owned()
    }

    fn word(&mut self) -> Outline {
        let rest = &self.text[self.at..];
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
        let len = rest.iter().take_while(is_part).count();
        if len == 0 {
            return self.given_up(Outline::Other);
        }
        self.at += len;
        match std::str::from_utf8(&rest[..len]).ok().and_then(|word| word.parse().ok()) {
            Some(number) if rest[0] == b'-' || rest[0].is_ascii_digit() => Outline::Number(number),
            _ => Outline::Other,
        }
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let comment = match &rest[blank..] {
                [b'/', b'/', ..] => rest[blank..].iter().position(|&byte| byte == b'\n').unwrap_or(rest.len() - blank),
                _ => 0,
            };
            self.at += blank + comment;
            if comment == 0 {
                return;
            }
        }
    }

    /// Skips a bracket and its contents.
    fn skip_nested(&mut self) {
        let mut open = 0_usize;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'"' => {
                    self.string();
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, words: &str) {
        assert_eq!(Outline::of_json(text.as_bytes()).in_words(), words, "{text}");
    }

    #[test]
    fn the_outermost_levels_are_seen() {
        check(r#"{"a": {"b": [1, {"c": "}"}]}, "d\"": -1e5}"#, r#"a dictionary with the keys "a", "d\"""#);
        check("[[-1, 1, 256, 0], [2, 1, 8, 3]]", "a list of 2 lists");
        check("[1, 2, 3]", "a list of 3 numbers");
        check("[{\"x\": 1}]", "a list of 1 dictionary with the key \"x\"");
        check("[]", "an empty list");
        check(" \"words\" ", "a string");
        check("true", "a single value");
        let deep = Outline::of_json(b"[[[[[1]]]], 2]");
        assert_eq!(deep.items().len(), 2);
    }

    #[test]
    fn what_is_cut_off_or_has_comments_is_forgiven() {
        check("{\"a\": [1, {\"b\": \"cut", "a dictionary with the key \"a\"");
        check("[ // the devices\n [ // its events\n {\"action\": \"alloc\", ", "a list of 1 list");
        check("{\"a\": 1, 'b': 2}", "a dictionary with the key \"a\"");
        check("{\"a\\", "a dictionary with the key \"a\\\"");
        check("", "a single value");
    }

    #[test]
    fn any_bytes_end_the_scan() {
        let mut state = 1_u32;
        let alphabet = br#"{}[]",:\/1-e nx"#;
        for len in 0..2000 {
            let bytes: Vec<u8> = (0..len % 60)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    alphabet[(state >> 16) as usize % alphabet.len()]
                })
                .collect();
            Outline::of_json(&bytes).in_words();
        }
        Outline::of_json(&[b'['; 100_000]);
    }
}
