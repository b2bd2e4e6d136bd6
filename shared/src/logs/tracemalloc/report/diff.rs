//! Builds the comparison of two snapshots of tracemalloc.

use crate::logs::tracemalloc::{Grouping, LineChange, TracemallocSnapshot, changes};
use crate::report::ComparedChange;
use serde::Serialize;

/// Difference of what snapshot `b` of tracemalloc holds from what `a` holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracedComparison {
    pub a: TracedSide,
    pub b: TracedSide,
    /// Bytes of `b` minus those of `a`, which is the sum of the deltas of all lines.
    pub delta_bytes: i64,
    /// Blocks of `b` minus those of `a`.
    pub delta_count: i64,
    /// Lines that differ, the largest difference first.
    pub lines: Vec<ComparedPlace>,
    /// Number of differing lines that are left out.
    pub other_lines: u64,
    /// Sum of their deltas.
    pub other_delta_bytes: i64,
    /// All files that differ; their line is 0.
    pub files: Vec<ComparedPlace>,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracedSide {
    /// File as named on the command line.
    pub file: String,
    pub bytes: u64,
    pub blocks: u64,
    /// Number of frames after which stacks are cut.
    pub traceback_limit: u64,
}

/// Line or file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedPlace {
    pub filename: String,
    pub line: u32,
    #[serde(flatten)]
    pub change: ComparedChange,
}

impl TracedSide {
    fn new(file: &str, snapshot: &TracemallocSnapshot) -> Self {
        let total = snapshot.total();
        Self {
            file: file.to_owned(),
            bytes: total.bytes,
            blocks: total.blocks,
            traceback_limit: snapshot.traceback_limit,
        }
    }
}

/// Builds the comparison with at most `top` lines; each side is a file with its snapshot.
pub fn traced_comparison(
    a: (&str, &TracemallocSnapshot),
    b: (&str, &TracemallocSnapshot),
    top: usize,
) -> TracedComparison {
    let compared = |grouping: Grouping| -> Vec<ComparedPlace> {
        let changes = changes(a.1, b.1, grouping).into_iter().filter(|change| change.before != change.after);
        changes.map(|change| place(&change)).collect()
    };
    let mut lines = compared(Grouping::Line);
    let others = lines.split_off(top.min(lines.len()));
    let (a, b) = (TracedSide::new(a.0, a.1), TracedSide::new(b.0, b.1));
    TracedComparison {
        delta_bytes: b.bytes.wrapping_sub(a.bytes) as i64,
        delta_count: b.blocks.wrapping_sub(a.blocks) as i64,
        lines,
        other_lines: others.len() as u64,
        other_delta_bytes: others.iter().map(|line| line.change.delta_bytes).fold(0, i64::saturating_add),
        files: compared(Grouping::File),
        a,
        b,
    }
}

fn place(change: &LineChange<'_>) -> ComparedPlace {
    ComparedPlace {
        filename: change.place.file.to_owned(),
        line: change.place.line,
        change: ComparedChange {
            a_bytes: change.before.bytes,
            b_bytes: change.after.bytes,
            delta_bytes: change.bytes(),
            a_count: change.before.blocks,
            b_count: change.after.blocks,
            delta_count: change.blocks(),
        },
    }
}
