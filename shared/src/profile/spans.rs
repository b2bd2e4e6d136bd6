//! Finds the spans around memory events.

use super::trace::MemoryEvent;
use crate::base::{StringId, StringTable, frame_rules};
use hashbrown::HashMap;

/// What a span is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    Operator,
    /// Function of Python, named `train.py(88): step`.
    Function,
}

/// Span of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) thread: u64,
    pub(super) start_us: f64,
    pub(super) end_us: f64,
    pub(super) name: StringId,
    pub(super) kind: SpanKind,
}

/// Sets the innermost operator and own function of each event; events of one thread are in the order of their times.
pub(super) fn attribute(events: &mut [&mut MemoryEvent], mut spans: Vec<Span>, names: &StringTable) {
    // The outer one of two spans that begin together comes first.
    spans.sort_by(|a, b| {
        let by_start = a.thread.cmp(&b.thread).then(a.start_us.total_cmp(&b.start_us));
        by_start.then(b.end_us.total_cmp(&a.end_us))
    });
    let mut firsts: HashMap<u64, usize> = HashMap::new();
    for (position, span) in spans.iter().enumerate() {
        firsts.entry(span.thread).or_insert(position);
    }
    let mut threads: HashMap<u64, Thread> = HashMap::new();
    let mut is_own: HashMap<StringId, bool> = HashMap::new();
    for event in events {
        let thread = threads.entry(event.thread).or_insert_with(|| Thread {
            next: firsts.get(&event.thread).copied().unwrap_or(spans.len()),
            open: Vec::new(),
        });
        thread.advance(&spans, event);
        let around = || thread.open.iter().rev().map(|&position| &spans[position]);
        event.operator = around().find(|span| span.kind == SpanKind::Operator).map(|span| span.name);
        let mut own = |span: &&Span| {
            span.kind == SpanKind::Function
                && *is_own.entry(span.name).or_insert_with(|| is_of_user(names.get(span.name)))
        };
        event.function = around().find(|span| own(span)).map(|span| span.name);
    }
}

/// Open spans of a thread at a time.
struct Thread {
    next: usize,
    open: Vec<usize>,
}

impl Thread {
    fn advance(&mut self, spans: &[Span], event: &MemoryEvent) {
        while let Some(span) = spans.get(self.next).filter(|span| span.thread == event.thread) {
            if span.start_us > event.time_us {
                break;
            }
            // Spans that have ended would pile up where a trace has no memory events for a while.
            self.end(spans, span.start_us);
            self.open.push(self.next);
            self.next += 1;
        }
        self.end(spans, event.time_us);
    }

    fn end(&mut self, spans: &[Span], time_us: f64) {
        while self.open.last().is_some_and(|&position| spans[position].end_us < time_us) {
            self.open.pop();
        }
    }
}

/// Returns true for functions of the user's own code: `train.py(88): step`, but `torch/nn/modules/module.py(…)` is not.
fn is_of_user(name: &str) -> bool {
    let Some((file, _)) = name.split_once("): ").and_then(|(place, _)| place.rsplit_once('(')) else { return false };
    let is_library = file.starts_with("torch/") || file.starts_with('<');
    !is_library && frame_rules::innermost_own_position(std::iter::once(("", file))).is_some()
}
