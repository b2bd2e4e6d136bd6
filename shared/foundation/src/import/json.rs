//! Reads the JSON form of a snapshot, as MTIA's on-demand mode writes it.
//!
//! Objects and arrays are closed in the same order as in a pickle, so that the same machine and builder can be used.

use super::error::{CUT_OFF, DAMAGED, HINT_CUT, ImportError};
use crate::base::{Feed, Scan, Scanned};
use crate::pickle::{Build, ErrorKind, Finished, Machine, Val};

const HINT_JSON: &str = "The JSON form of a snapshot has the same keys as the pickle. The file may be damaged.";

/// Incremental reader of a JSON text.
#[derive(Debug)]
pub(super) struct JsonReader<B> {
    feed: Feed,
    scanner: JsonScanner<B>,
}

#[derive(Debug)]
struct JsonScanner<B> {
    machine: Machine<B>,
    /// Open brackets, outermost first.
    open: Vec<Bracket>,
    expect: Expect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    Object,
    Array,
}

/// Element that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    Nothing,
}

impl Expect {
    fn in_words(self) -> &'static str {
        match self {
            Self::Value => "a value",
            Self::ValueOrEnd => "a value or ]",
            Self::Key => "a key in quotes",
            Self::KeyOrEnd => "a key in quotes or }",
            Self::Colon => "a colon",
            Self::CommaOrEnd => "a comma or the closing bracket",
            Self::Nothing => "the end of the text",
        }
    }
}

/// Length of a token, or `None` if the text ends within it.
type Token = Result<Option<usize>, ImportError>;

impl<B: Build> JsonReader<B> {
    pub(super) fn new(builder: B) -> Self {
        let scanner = JsonScanner { machine: Machine::new(builder), open: Vec::new(), expect: Expect::Value };
        Self { feed: Feed::default(), scanner }
    }

    pub(super) fn builder(&self) -> &B {
        &self.scanner.machine.builder
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), ImportError> {
        self.feed.push(bytes, &mut self.scanner)
    }

    pub(super) fn finish(mut self) -> Result<Finished<B>, ImportError> {
        self.feed.finish(&mut self.scanner)?;
        let JsonScanner { machine, expect, .. } = self.scanner;
        if expect != Expect::Nothing {
            let message = format!("The JSON text ends where {} was expected", expect.in_words());
            return Err(ImportError::new(CUT_OFF, message, HINT_CUT).at(self.feed.offset()));
        }
        let bytes = self.feed.offset();
        let (builder, heap, root) = machine.stop().map_err(|kind| damaged(kind).at(bytes))?;
        Ok(Finished { builder, heap, root, bytes, protocol: 0, trailing_bytes: 0, recursive_containers: 0 })
    }
}

impl<B: Build> Scan for JsonScanner<B> {
    type Error = ImportError;

    fn scan(&mut self, input: &[u8], offset: u64) -> Result<Scanned, ImportError> {
        let mut at = 0;
        loop {
            at += input[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let rest = &input[at..];
            if rest.is_empty() {
                return Ok(Scanned { consumed: at, needed: 1 });
            }
            match self.token(rest).map_err(|error| error.at(offset + at as u64))? {
                Some(len) => at += len,
                // Doubling keeps the work linear if a long token arrives byte by byte.
                None => return Ok(Scanned { consumed: at, needed: 2 * rest.len() }),
            }
        }
    }
}

impl<B: Build> JsonScanner<B> {
    fn token(&mut self, text: &[u8]) -> Token {
        use Expect::{Colon, CommaOrEnd, Key, KeyOrEnd, Value, ValueOrEnd};
        match (self.expect, text[0]) {
            (Value | ValueOrEnd, b'{') => self.open(Bracket::Object, Val::FRESH_DICT, KeyOrEnd),
            (Value | ValueOrEnd, b'[') => self.open(Bracket::Array, Val::FRESH_LIST, ValueOrEnd),
            (KeyOrEnd, b'}') | (ValueOrEnd, b']') => self.close(text[0]),
            (CommaOrEnd, b'}' | b']') => self.close(text[0]),
            (CommaOrEnd, b',') => {
                let is_object = self.open.last() == Some(&Bracket::Object);
                self.then(1, if is_object { Key } else { Value })
            }
            (Colon, b':') => self.then(1, Value),
            (Key | KeyOrEnd, b'"') => match self.string(text)? {
                Some(len) => self.then(len, Colon),
                None => Ok(None),
            },
            (Value | ValueOrEnd, first) => {
                let len = if first == b'"' { self.string(text)? } else { self.scalar(text)? };
                if len.is_some() {
                    self.after_value();
                }
                Ok(len)
            }
            (expect, _) => Err(unexpected(expect, text)),
        }
    }

    fn open(&mut self, bracket: Bracket, fresh: Val, expect: Expect) -> Token {
        self.machine.push(fresh);
        self.machine.mark().map_err(damaged)?;
        self.open.push(bracket);
        self.then(1, expect)
    }

    /// Ends a token of this length.
    fn then(&mut self, len: usize, expect: Expect) -> Token {
        self.expect = expect;
        Ok(Some(len))
    }

    fn close(&mut self, byte: u8) -> Token {
        let result = match (self.open.pop(), byte) {
            (Some(Bracket::Object), b'}') => self.machine.set_items(),
            (Some(Bracket::Array), b']') => self.machine.append_all(),
            _ => return Err(unexpected(self.expect, &[byte])),
        };
        result.map_err(damaged)?;
        self.after_value();
        Ok(Some(1))
    }

    fn after_value(&mut self) {
        self.expect = if self.open.is_empty() { Expect::Nothing } else { Expect::CommaOrEnd };
    }

    fn string(&mut self, text: &[u8]) -> Token {
        let mut end = 1;
        loop {
            let Some(step) = text[end..].iter().position(|&byte| byte == b'"' || byte == b'\\') else {
                return Ok(None);
            };
            end += step;
            if text[end] == b'"' {
                break;
            }
            // Skip the backslash and the character that it escapes.
            end += 2;
            if end >= text.len() {
                return Ok(None);
            }
        }
        let token = &text[..=end];
        let plain = std::str::from_utf8(&token[1..end]).ok().filter(|text| !text.contains('\\'));
        match plain {
            Some(text) => self.machine.push_str(text),
            None => {
                let text: String = serde_json::from_str(&String::from_utf8_lossy(token))
                    .map_err(|_| unexpected(self.expect, token))?;
                self.machine.push_str(&text);
            }
        }
        Ok(Some(token.len()))
    }

    /// Reads a number, `true`, `false` or `null`, or a non-finite number as Python's `json` writes it.
    fn scalar(&mut self, text: &[u8]) -> Token {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let len = text.iter().take_while(|byte| is_part(byte)).count();
        if len == text.len() {
            return Ok(None);
        }
        let word = std::str::from_utf8(&text[..len]).expect("ASCII letters and digits");
        match word {
            "null" => self.machine.push(Val::NONE),
            "true" => self.machine.push(Val::TRUE),
            "false" => self.machine.push(Val::FALSE),
            "NaN" => self.machine.push_float(f64::NAN),
            "Infinity" => self.machine.push_float(f64::INFINITY),
            "-Infinity" => self.machine.push_float(f64::NEG_INFINITY),
            _ if word.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => match word.parse::<i128>() {
                Ok(value) => self.machine.push_int(value),
                Err(_) => {
                    let value: f64 = word.parse().map_err(|_| unexpected(self.expect, word.as_bytes()))?;
                    self.machine.push_float(value);
                }
            },
            _ => return Err(unexpected(self.expect, text)),
        }
        Ok(Some(len))
    }
}

fn damaged(kind: Box<ErrorKind>) -> ImportError {
    ImportError::new(DAMAGED, kind.to_string(), HINT_JSON)
}

fn unexpected(expect: Expect, found: &[u8]) -> ImportError {
    const SHOWN: usize = 16;
    let shown = String::from_utf8_lossy(&found[..found.len().min(SHOWN)]);
    ImportError::new(DAMAGED, format!("Expected {} in the JSON text, found {shown:?}", expect.in_words()), HINT_JSON)
}
