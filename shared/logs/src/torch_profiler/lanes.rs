//! Arranges what ran in rows, sums the kernels that operators launch, and finds who copied between host and GPU.
//!
//! Rows have the profiler's steps, annotations, or kernels of the GPU; the spans of a row do not overlap:
//!
//! ```text
//! steps        |ProfilerStep#3        |ProfilerStep#4      |
//! annotations  |forward   |backward  | |forward  |backward |     those within others are left out
//! kernels       |#|#|  |#|              |##|                     those at the same time are one
//! ```

use super::spans::{Span, SpanKind, Spans, is_step, own_functions};
use super::trace::{Direction, Lane, LaneKind, LaneSpan, Transfer};
use hashbrown::HashMap;
use shared::base::StringId;

/// Most spans of a row, twice the columns of a screen; of more, neighbours are joined.
const MOST_SPANS: usize = 4000;

/// Returns the rows that have spans; `base_us` is added to all times.
pub(super) fn lanes(spans: &Spans<'_>, kernels: &[Kernel], base_us: f64) -> Vec<Lane> {
    let annotations = |of_steps: bool| -> Vec<LaneSpan> {
        let all = spans.all.iter().filter(|span| span.kind == SpanKind::Annotation);
        let all = all.filter(|span| is_step(span, spans.names) == of_steps);
        all.map(|span| LaneSpan { name: span.name, start_us: span.start_us, end_us: span.end_us, count: 1 }).collect()
    };
    let of_kernel = |&Kernel { name, start_us, duration_us, .. }: &Kernel| LaneSpan {
        name,
        start_us,
        end_us: start_us + duration_us,
        count: 1,
    };
    let kernels: Vec<LaneSpan> = kernels.iter().map(of_kernel).collect();
    let rows = [
        (LaneKind::Steps, outermost(annotations(true))),
        (LaneKind::Annotations, outermost(annotations(false))),
        (LaneKind::Kernels, united(kernels)),
    ];
    let lane = |(kind, spans): (LaneKind, Vec<LaneSpan>)| Lane { kind, spans: thinned(spans) };
    let mut lanes: Vec<Lane> = rows.into_iter().map(lane).filter(|lane| !lane.spans.is_empty()).collect();
    for span in lanes.iter_mut().flat_map(|lane| &mut lane.spans) {
        (span.start_us, span.end_us) = (span.start_us + base_us, span.end_us + base_us);
    }
    lanes
}

fn sorted(mut spans: Vec<LaneSpan>) -> impl Iterator<Item = LaneSpan> {
    spans.sort_by(|a, b| a.start_us.total_cmp(&b.start_us).then(b.end_us.total_cmp(&a.end_us)));
    spans.into_iter()
}

/// Returns the spans that begin within no other one.
fn outermost(spans: Vec<LaneSpan>) -> Vec<LaneSpan> {
    let mut rows: Vec<LaneSpan> = Vec::new();
    for span in sorted(spans) {
        if rows.last().is_none_or(|last| span.start_us >= last.end_us) {
            rows.push(span);
        }
    }
    rows
}

/// Joins spans that overlap, as kernels of several streams do.
fn united(spans: Vec<LaneSpan>) -> Vec<LaneSpan> {
    joined(sorted(spans), |last, span| span.start_us < last.end_us)
}

/// Joins neighbours that a screen could not tell apart.
fn thinned(spans: Vec<LaneSpan>) -> Vec<LaneSpan> {
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return spans };
    if spans.len() <= MOST_SPANS {
        return spans;
    }
    let least_us = (last.end_us - first.start_us) / (MOST_SPANS / 2) as f64;
    joined(spans.into_iter(), |last, span| span.end_us - last.start_us < least_us)
}

fn joined(spans: impl Iterator<Item = LaneSpan>, is_one: impl Fn(&LaneSpan, &LaneSpan) -> bool) -> Vec<LaneSpan> {
    let mut rows: Vec<LaneSpan> = Vec::new();
    for span in spans {
        match rows.last_mut().filter(|last| is_one(last, &span)) {
            Some(last) => {
                last.end_us = last.end_us.max(span.end_us);
                last.count += span.count;
            }
            None => rows.push(span),
        }
    }
    rows
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    /// Number that the kernel shares with its launch.
    pub(super) correlation: u64,
    pub(super) name: StringId,
    pub(super) start_us: f64,
    pub(super) duration_us: f64,
}

/// Kernels by the thread and the time of their launches.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    /// Launches of each thread in the order of their times, each with the sum of the kernels up to it.
    launches: HashMap<u64, Vec<(f64, f64)>>,
}

impl Kernels {
    /// Finds the launch of each kernel; `calls` are in the order of their times.
    pub(super) fn new(calls: &[Call], kernels: &[Kernel]) -> Self {
        let durations: HashMap<u64, f64> =
            kernels.iter().map(|kernel| (kernel.correlation, kernel.duration_us)).collect();
        let mut all = Self::default();
        for call in calls.iter().filter(|call| call.kind == CallKind::Launch) {
            let Some(duration_us) = durations.get(&call.correlation) else { continue };
            let launches = all.launches.entry(call.thread).or_default();
            let before = launches.last().map_or(0.0, |(_, sum)| *sum);
            launches.push((call.start_us, before + duration_us));
        }
        all
    }

    /// Returns the time of the kernels that the thread of a span launched within it, in microseconds.
    pub(super) fn within(&self, span: &Span) -> f64 {
        let Some(launches) = self.launches.get(&span.thread) else { return 0.0 };
        let sum_before = |position: usize| position.checked_sub(1).map_or(0.0, |last| launches[last].1);
        let start = launches.partition_point(|(time_us, _)| *time_us < span.start_us);
        let end = launches.partition_point(|(time_us, _)| *time_us <= span.end_us);
        sum_before(end) - sum_before(start)
    }
}

/// Operators that need a value of the GPU before the program can go on.
const READS: [&str; 6] =
    ["aten::item", "aten::_local_scalar_dense", "aten::nonzero", "aten::is_nonzero", "aten::equal", "aten::unique_dim"];

#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) thread: u64,
    pub(super) start_us: f64,
    pub(super) duration_us: f64,
    /// Number that the call shares with what it makes the GPU do.
    pub(super) correlation: u64,
    pub(super) kind: CallKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    Copy,
    Wait,
    Launch,
}

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
    let (mut walk, mut is_own) = (spans.walk(), own_functions(spans.names));
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
        transfers.push(transfer(call, copied, around, spans, &mut is_own));
    }
    // Of copies to pinned memory, the program waits at once for those that it reads.
    let is_read = |operator| READS.contains(&spans.names.get(operator));
    transfers.retain(|one| one.direction != Direction::ToPinned || one.operator.is_some_and(is_read));
    transfers
}

fn transfer<'a>(
    call: &Call,
    copied: &Copied,
    around: impl Iterator<Item = &'a Span> + Clone,
    spans: &Spans<'_>,
    mut is_own: impl FnMut(&Span) -> bool,
) -> Transfer {
    let operators = around.clone().filter(|span| span.kind == SpanKind::Operator);
    let annotation = around.clone().find(|span| span.kind == SpanKind::Annotation && !is_step(span, spans.names));
    let function = around.clone().find(|span| is_own(span));
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

#[cfg(test)]
mod tests {
    use super::*;
    use shared::base::StringTable;

    fn spans(times: &[(f64, f64)]) -> Vec<LaneSpan> {
        let name = StringTable::default().intern("a");
        times.iter().map(|&(start_us, end_us)| LaneSpan { name, start_us, end_us, count: 1 }).collect()
    }

    fn times(spans: &[LaneSpan]) -> Vec<(f64, f64, u64)> {
        spans.iter().map(|span| (span.start_us, span.end_us, span.count)).collect()
    }

    #[test]
    fn spans_of_a_row_do_not_overlap() {
        let all = [(5.0, 6.0), (0.0, 4.0), (1.0, 2.0), (3.0, 5.5), (9.0, 9.0)];
        assert_eq!(times(&outermost(spans(&all))), [(0.0, 4.0, 1), (5.0, 6.0, 1), (9.0, 9.0, 1)]);
        assert_eq!(times(&united(spans(&all))), [(0.0, 6.0, 4), (9.0, 9.0, 1)]);
    }

    #[test]
    fn rows_are_bounded() {
        let many: Vec<(f64, f64)> = (0..50_000).map(|at| (f64::from(at), f64::from(at) + 0.5)).collect();
        let thin = thinned(spans(&many));
        assert!(
            thin.len() <= MOST_SPANS && thin.iter().map(|span| span.count).sum::<u64>() == 50_000,
            "{}",
            thin.len()
        );
        assert!(thin.windows(2).all(|pair| pair[0].end_us <= pair[1].start_us));
        assert_eq!(thinned(spans(&many[..10])).len(), 10);
    }
}
