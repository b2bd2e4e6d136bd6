//! Finds the operator and the function behind each memory event.

use super::lanes::Kernels;
use super::spans::{Span, SpanKind, Spans, own_functions};
use super::trace::{MemoryEvent, Operation, Origin};
use hashbrown::HashMap;
use shared::base::{StringId, StringTable};

/// Operators that create a tensor from nothing but its size.
const CREATE: [&str; 10] = [
    "aten::zeros",
    "aten::ones",
    "aten::full",
    "aten::empty",
    "aten::arange",
    "aten::linspace",
    "aten::eye",
    "aten::tril_indices",
    "aten::triu_indices",
    "aten::empty_strided",
];

/// Operators whose names say where memory comes from.
struct Known {
    create: Vec<StringId>,
    contiguous: Option<StringId>,
}

impl Known {
    fn new(names: &StringTable) -> Self {
        let create = CREATE.iter().filter_map(|name| names.find(name)).collect();
        Self { create, contiguous: names.find("aten::contiguous") }
    }

    /// Returns where an allocation comes from, given the spans around it, the innermost first.
    fn origin<'a>(
        &self,
        around: impl Iterator<Item = &'a Span>,
        names: &StringTable,
        mut is_own: impl FnMut(&Span) -> bool,
    ) -> Origin {
        let mut outermost = None;
        for span in around {
            match span.kind {
                SpanKind::Operator if Some(span.name) == self.contiguous => return Origin::Contiguous,
                SpanKind::Operator => outermost = Some(span.name),
                // `torch.zeros` itself appears as a function, `<built-in method zeros of type object at 0x…>`.
                SpanKind::Function if names.get(span.name).starts_with('<') => {}
                SpanKind::Function if is_own(span) => {
                    let is_created = outermost.is_some_and(|name| self.create.contains(&name));
                    return if is_created { Origin::Created } else { Origin::Other };
                }
                SpanKind::Function | SpanKind::Module => break,
                SpanKind::Annotation => {}
            }
        }
        Origin::Other
    }
}

/// Sets the operators, the own function and the origin of each event, and returns the outermost operators; events of one
/// thread are in the order of their times.
pub(super) fn attribute(events: &mut [&mut MemoryEvent], spans: &Spans<'_>, kernels: &Kernels) -> Vec<Operation> {
    let mut operations = Vec::new();
    let mut by_span: HashMap<usize, u32> = HashMap::new();
    let (mut walk, mut is_own) = (spans.walk(), own_functions(spans.names));
    let known = Known::new(spans.names);
    for event in events {
        let positioned = walk.around(event.thread, event.time_us);
        let around = positioned.clone().map(|(_, span)| span);
        let is_operation = |span: &&Span| matches!(span.kind, SpanKind::Operator | SpanKind::Annotation);
        event.operator = around.clone().find(is_operation).map(|span| span.name);
        event.function = around.clone().find(|span| is_own(span)).map(|span| span.name);
        if event.bytes > 0 {
            event.origin = known.origin(around, spans.names, &mut is_own);
            let outermost = positioned.filter(|(_, span)| span.kind == SpanKind::Operator).last();
            event.operation = outermost.map(|(position, span)| {
                *by_span.entry(position).or_insert_with(|| {
                    operations.push(Operation { name: span.name, kernels_us: kernels.within(span) });
                    operations.len() as u32 - 1
                })
            });
        }
    }
    operations
}
