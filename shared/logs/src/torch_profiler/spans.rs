//! Finds the spans around moments of threads, from events that are JSON objects with at most one level of arguments.

use hashbrown::HashMap;
use shared::base::{StringId, StringTable, frame_rules};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    Operator,
    /// Part of a program that its user named.
    Annotation,
    /// Function of Python, named `train.py(88): step`.
    Function,
    /// Call of a module, named `nn.Module: Linear_0`.
    Module,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) thread: u64,
    pub(super) start_us: f64,
    pub(super) end_us: f64,
    pub(super) name: StringId,
    pub(super) kind: SpanKind,
}

/// Spans of all threads, with their names.
#[derive(Debug)]
pub(super) struct Spans<'a> {
    pub(super) names: &'a StringTable,
    /// In the order of threads, then of starts; of two that begin together, the outer one comes first.
    pub(super) all: Vec<Span>,
    /// Position of the first span of each thread.
    firsts: HashMap<u64, usize>,
}

impl<'a> Spans<'a> {
    pub(super) fn new(mut all: Vec<Span>, names: &'a StringTable) -> Self {
        all.sort_by(|a, b| {
            let by_start = a.thread.cmp(&b.thread).then(a.start_us.total_cmp(&b.start_us));
            by_start.then(b.end_us.total_cmp(&a.end_us))
        });
        let mut firsts: HashMap<u64, usize> = HashMap::new();
        for (position, span) in all.iter().enumerate() {
            firsts.entry(span.thread).or_insert(position);
        }
        Self { names, all, firsts }
    }

    pub(super) fn walk(&self) -> Walk<'_> {
        Walk { spans: self, threads: HashMap::new() }
    }
}

/// Most spans that are looked at around a moment; Python's own limit of recursion is 1,000.
const DEEPEST: usize = 1000;

/// Walk through moments, of which those of one thread come in the order of their times.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    spans: &'a Spans<'a>,
    threads: HashMap<u64, Thread>,
}

impl Walk<'_> {
    /// Returns the spans around a moment, the innermost first, with their positions.
    pub(super) fn around(&mut self, thread: u64, time_us: f64) -> impl Iterator<Item = (usize, &Span)> + Clone {
        let Spans { all, firsts, .. } = self.spans;
        let state = self
            .threads
            .entry(thread)
            .or_insert_with(|| Thread { next: firsts.get(&thread).copied().unwrap_or(all.len()), open: Vec::new() });
        state.advance(all, thread, time_us);
        state.open.iter().rev().take(DEEPEST).map(|&position| (position, &all[position]))
    }
}

/// Returns what tells spans of the user's own functions from others.
pub(super) fn own_functions(names: &StringTable) -> impl FnMut(&Span) -> bool {
    let mut known: HashMap<StringId, bool> = HashMap::new();
    move |span| {
        let mut is_own = || *known.entry(span.name).or_insert_with(|| is_of_user(names.get(span.name)));
        span.kind == SpanKind::Function && is_own()
    }
}

/// Open spans of a thread at a time.
#[derive(Debug)]
struct Thread {
    next: usize,
    open: Vec<usize>,
}

impl Thread {
    fn advance(&mut self, spans: &[Span], thread: u64, time_us: f64) {
        while let Some(span) = spans.get(self.next).filter(|span| span.thread == thread) {
            if span.start_us > time_us {
                break;
            }
            // Spans that have ended would pile up where a trace has no moments for a while.
            self.end(spans, span.start_us);
            self.open.push(self.next);
            self.next += 1;
        }
        self.end(spans, time_us);
    }

    fn end(&mut self, spans: &[Span], time_us: f64) {
        while self.open.last().is_some_and(|&position| spans[position].end_us < time_us) {
            self.open.pop();
        }
    }
}

/// Returns true for the annotation of a step, `ProfilerStep#7`.
pub(super) fn is_step(span: &Span, names: &StringTable) -> bool {
    span.kind == SpanKind::Annotation && names.get(span.name).starts_with("ProfilerStep#")
}

/// Returns true for functions of the user's own code: `train.py(88): step`, but `torch/nn/modules/module.py(…)` is not.
fn is_of_user(name: &str) -> bool {
    let Some((file, _)) = name.split_once("): ").and_then(|(place, _)| place.rsplit_once('(')) else { return false };
    let is_library = file.starts_with("torch/") || file.starts_with('<');
    !is_library && frame_rules::innermost_own_position(std::iter::once(("", file))).is_some()
}

/// Field of an event: a text without its quotes, or any other value as it stands.
pub(super) type Field<'a> = (&'a [u8], &'a [u8]);

/// Passes the fields of an object and those of its `args` to `visit`; damaged JSON ends it early.
pub(super) fn fields<'a>(object: &'a [u8], mut visit: impl FnMut(Field<'a>)) {
    let mut at = 0;
    while let Some(start) = find(object, at, b'"') {
        let Some(end) = string_end(object, start + 1) else { return };
        let key = &object[start + 1..end];
        let Some(value) = value_start(object, end + 1) else { return };
        match object[value] {
            b'"' => {
                let Some(end) = string_end(object, value + 1) else { return };
                visit((key, &object[value + 1..end]));
                at = end + 1;
            }
            // The arguments are read as if they were fields.
            b'{' if key == b"args" => at = value + 1,
            b'{' | b'[' => {
                let Some(end) = skip(object, value) else { return };
                at = end;
            }
            _ => {
                let rest = &object[value..];
                let length = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']')).unwrap_or(rest.len());
                visit((key, rest[..length].trim_ascii_end()));
                at = value + length;
            }
        }
    }
}

fn find(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    bytes.get(from..)?.iter().position(|byte| *byte == wanted).map(|position| from + position)
}

/// Returns the position of the quote that ends a string.
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns the position of the value behind a colon.
fn value_start(bytes: &[u8], from: usize) -> Option<usize> {
    let mut has_colon = false;
    for (position, byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b':' if !has_colon => has_colon = true,
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ if has_colon => return Some(position),
            _ => return None,
        }
    }
    None
}

/// Returns the position behind an object or a list.
fn skip(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at + 1)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_fields() {
        let object =
            br#"{"ph": "i", "ts": 12.5, "list": [1, {"a": "]"}], "args": {"Bytes": -512, "n": {"x": 1}}, "z": true}"#;
        let mut all = Vec::new();
        fields(object, |(key, value)| {
            all.push((String::from_utf8_lossy(key).into_owned(), String::from_utf8_lossy(value).into_owned()));
        });
        let all: Vec<(&str, &str)> = all.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(all, [("ph", "i"), ("ts", "12.5"), ("Bytes", "-512"), ("z", "true")]);
    }

    #[test]
    fn damaged_objects_end_early() {
        for object in [
            &b"{\"a"[..],
            b"{\"a\"",
            b"{\"a\":",
            b"{\"a\": \"b",
            b"{\"a\": [",
            b"{\"a\" 1}",
            b"\"\\",
            b"{\"args\": {\"a\": 1",
        ] {
            fields(object, |_| {});
        }
    }
}
