//! Finds the operator and the function behind each memory event.

use super::lanes::Kernels;
use super::spans::{Span, SpanKind, Spans, own_functions};
use super::trace::{MemoryEvent, Operation, Origin};
use hashbrown::HashMap;
use shared::base::StringTable;

/// Operators of `aten` that create a tensor from nothing but its size.
const CREATE: &str = "zeros ones full empty arange linspace eye tril_indices triu_indices empty_strided";

/// Returns where an allocation comes from, given the spans around it, the innermost first.
fn origin<'a>(
    around: impl Iterator<Item = &'a Span>,
    names: &StringTable,
    mut is_own: impl FnMut(&Span) -> bool,
) -> Origin {
    let mut outermost = None;
    for span in around {
        match span.kind {
            SpanKind::Operator if names.get(span.name) == "aten::contiguous" => return Origin::Contiguous,
            SpanKind::Operator => outermost = Some(names.get(span.name)),
            // `torch.zeros` itself appears as a function, `<built-in method zeros of type object at 0x…>`.
            SpanKind::Function if names.get(span.name).starts_with('<') => {}
            SpanKind::Function if is_own(span) => {
                let operator = outermost.and_then(|name| name.strip_prefix("aten::"));
                let is_created = operator.is_some_and(|name| CREATE.split(' ').any(|known| known == name));
                return if is_created { Origin::Created } else { Origin::Other };
            }
            SpanKind::Function | SpanKind::Module => break,
            SpanKind::Annotation => {}
        }
    }
    Origin::Other
}

/// Sets the operators, the own function and the origin of each event, and returns the outermost operators; events of one
/// thread are in the order of their times.
pub(super) fn attribute(events: &mut [&mut MemoryEvent], spans: &Spans<'_>, kernels: &Kernels) -> Vec<Operation> {
    let mut operations = Vec::new();
    let mut by_span: HashMap<usize, u32> = HashMap::new();
    let (mut walk, mut is_own) = (spans.walk(), own_functions(spans.names));
    for event in events {
        let positioned = walk.around(event.thread, event.time_us);
        let around = positioned.clone().map(|(_, span)| span);
        let is_operation = |span: &&Span| matches!(span.kind, SpanKind::Operator | SpanKind::Annotation);
        event.operator = around.clone().find(is_operation).map(|span| span.name);
        event.function = around.clone().find(|span| is_own(span)).map(|span| span.name);
        if event.bytes > 0 {
            event.origin = origin(around, spans.names, &mut is_own);
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
