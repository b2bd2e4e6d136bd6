//! Defines the document of `snapscope diff --json`.

use crate::report::Frame;
use serde::Serialize;

/// Difference of the live memory of side `b` from that of side `a`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffReport {
    pub a: DiffSide,
    pub b: DiffSide,
    /// Live bytes of `b` minus those of `a`, which is the sum of the deltas of all stacks.
    pub delta_bytes: i64,
    /// Live allocations of `b` minus those of `a`.
    pub delta_count: i64,
    /// Stacks that differ, the largest difference first.
    pub rows: Vec<DiffStackRow>,
    /// Number of differing stacks that are left out.
    pub other_rows: u64,
    /// Sum of their deltas.
    pub other_delta_bytes: i64,
    /// Number of stacks that hold the same on both sides.
    pub equal_stacks: u64,
    /// Bytes that those stacks hold.
    pub equal_bytes: u64,
    /// All live bytes by category.
    pub by_category: Vec<DiffGroup>,
    /// All live bytes by the `torch.nn` module, or by the file of the program where no module is known.
    pub by_module: Vec<DiffGroup>,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffSide {
    /// File as named on the command line.
    pub file: String,
    /// CUDA index.
    pub device: i64,
    /// Event after which the figures hold, -1 for the initial state.
    pub event: i64,
    /// Step whose peak that is, counted from 1, if a step was requested.
    pub step: Option<u64>,
    pub live_bytes: u64,
    pub reserved_bytes: u64,
    /// Number of live allocations.
    pub allocations: u64,
}

/// Stack that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffStackRow {
    /// Way in which the stack was matched: `same`, `moved-lines`, `place`, `only-a` or `only-b`.
    pub matched: &'static str,
    /// Title of the stack.
    pub title: String,
    /// Category of most of the difference.
    pub category: &'static str,
    /// `torch.nn` module, or else the file of the program; empty if neither is known.
    pub module: String,
    #[serde(flatten)]
    pub change: DiffChange,
    /// Stack in `a`, innermost frame first; of several stacks that were matched by their place, the largest.
    pub a_frames: Vec<Frame>,
    /// Stack in `b`, likewise.
    pub b_frames: Vec<Frame>,
}

/// All live bytes of one category or module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffGroup {
    /// Category or module; empty if unknown.
    pub name: String,
    #[serde(flatten)]
    pub change: DiffChange,
}

/// Bytes and allocations on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DiffChange {
    /// Bytes in `a`.
    pub a_bytes: u64,
    /// Bytes in `b`.
    pub b_bytes: u64,
    /// `b_bytes` minus `a_bytes`.
    pub delta_bytes: i64,
    /// Allocations in `a`.
    pub a_count: u64,
    /// Allocations in `b`.
    pub b_count: u64,
    /// `b_count` minus `a_count`.
    pub delta_count: i64,
}
