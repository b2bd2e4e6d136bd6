//! Finds copies between host and GPU, and who asked for them.

use super::spans::{OwnFunctions, Span, SpanKind, Spans, is_step};
use super::trace::{Direction, Transfer};
use hashbrown::HashMap;

/// Operators that need a value of the GPU before the program can go on.
const READS: [&str; 6] =
    ["aten::item", "aten::_local_scalar_dense", "aten::nonzero", "aten::is_nonzero", "aten::equal", "aten::unique_dim"];

/// Call of the runtime.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) thread: u64,
    pub(super) start_us: f64,
    pub(super) duration_us: f64,
    /// Number that the call shares with what it makes the GPU do.
    pub(super) correlation: u64,
    pub(super) kind: CallKind,
}

/// Call of the runtime that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    Copy,
    Wait,
    Launch,
}

/// Copy that the GPU made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    pub(super) correlation: u64,
    pub(super) direction: Direction,
    pub(super) bytes: u64,
}

impl CallKind {
    /// Returns the kind of a call by its name, such as `cudaLaunchKernelExC`.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        match name {
            b"cudaMemcpyAsync" | b"hipMemcpyAsync" | b"hipMemcpyWithStream" => Some(Self::Copy),
            b"cudaStreamSynchronize" | b"hipStreamSynchronize" => Some(Self::Wait),
            _ => name.windows(b"LaunchKernel".len()).any(|part| part == b"LaunchKernel").then_some(Self::Launch),
        }
    }
}

/// Returns the direction of a copy by its name, such as `Memcpy HtoD (Pageable -> Device)`.
pub(super) fn direction(name: &[u8]) -> Option<Direction> {
    match name {
        b"Memcpy HtoD (Pageable -> Device)" => Some(Direction::FromPageable),
        b"Memcpy DtoH (Device -> Pageable)" => Some(Direction::ToPageable),
        b"Memcpy DtoH (Device -> Pinned)" => Some(Direction::ToPinned),
        _ => None,
    }
}

/// Returns the copies in the order of the calls, which is that of their times, with the time that the program waited for each.
pub(super) fn transfers(calls: &[Call], copied: &[Copied], spans: &Spans<'_>) -> Vec<Transfer> {
    let copied: HashMap<u64, &Copied> = copied.iter().map(|copied| (copied.correlation, copied)).collect();
    let (mut walk, mut own) = (spans.walk(), OwnFunctions::new(spans.names()));
    let mut transfers: Vec<Transfer> = Vec::new();
    // The last transfer of each thread, with the position of the operator that made it.
    let mut last: HashMap<u64, (usize, usize)> = HashMap::new();
    for call in calls.iter().filter(|call| call.kind != CallKind::Launch) {
        let around = walk.around(call.thread, call.start_us);
        let Some((operator, _)) = around.clone().find(|(_, span)| span.kind == SpanKind::Operator) else { continue };
        if call.kind == CallKind::Wait {
            let made = last.get(&call.thread).filter(|(_, by)| *by == operator);
            if let Some(transfer) = made.and_then(|(position, _)| transfers.get_mut(*position)) {
                transfer.wait_us += call.duration_us;
            }
            continue;
        }
        let Some(copied) = copied.get(&call.correlation) else { continue };
        last.insert(call.thread, (transfers.len(), operator));
        let around = around.map(|(_, span)| span);
        transfers.push(transfer(call, copied, around, spans, &mut own));
    }
    transfers.retain(|transfer| transfer.direction != Direction::ToPinned || is_read(transfer, spans));
    transfers
}

fn transfer<'a>(
    call: &Call,
    copied: &Copied,
    around: impl Iterator<Item = &'a Span> + Clone,
    spans: &Spans<'_>,
    own: &mut OwnFunctions<'_>,
) -> Transfer {
    let operators = around.clone().filter(|span| span.kind == SpanKind::Operator);
    let annotation = around.clone().find(|span| span.kind == SpanKind::Annotation && !is_step(span, spans.names()));
    let function = around.clone().find(|span| own.has(span));
    Transfer {
        time_us: call.start_us,
        direction: copied.direction,
        bytes: copied.bytes,
        wait_us: call.duration_us,
        operator: operators.last().map(|span| span.name),
        place: function.or(annotation).map(|span| span.name),
        modules: around.filter(|span| span.kind == SpanKind::Module).count(),
    }
}

/// Returns true for copies to pinned memory that the program waits for at once.
fn is_read(transfer: &Transfer, spans: &Spans<'_>) -> bool {
    transfer.operator.is_some_and(|operator| READS.contains(&spans.names().get(operator)))
}
