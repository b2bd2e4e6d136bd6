//! The document of `snapscope diff --json`.

use crate::report::Frame;
use serde::Serialize;

/// What the side `b` holds more or less than the side `a`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffReport {
    /// The first side.
    pub a: DiffSide,
    /// The second side.
    pub b: DiffSide,
    /// By how many live bytes `b` is higher: the sum of the deltas of all stacks.
    pub delta_bytes: i64,
    /// How many more allocations are alive in `b`.
    pub delta_count: i64,
    /// The stacks that differ, the largest difference first.
    pub rows: Vec<DiffStackRow>,
    /// How many stacks that differ are left out.
    pub other_rows: u64,
    /// The sum of their deltas.
    pub other_delta_bytes: i64,
    /// How many stacks hold the same on both sides.
    pub equal_stacks: u64,
    /// What those hold.
    pub equal_bytes: u64,
    /// All live bytes by what they are for.
    pub by_category: Vec<DiffGroup>,
    /// All live bytes by the `torch.nn` module, or else the file of the program.
    pub by_module: Vec<DiffGroup>,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffSide {
    /// The file as it was named.
    pub file: String,
    /// The device index.
    pub device: i64,
    /// The event after which the figures hold, -1 for the initial state.
    pub event: i64,
    /// The step whose peak that is, counted from 1, where one was asked for.
    pub step: Option<u64>,
    /// Live bytes there.
    pub live_bytes: u64,
    /// Reserved bytes there.
    pub reserved_bytes: u64,
    /// Live allocations there.
    pub allocations: u64,
}

/// A stack that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffStackRow {
    /// `same`, `moved-lines`, `place`, `only-a` or `only-b`: how it was found on both sides.
    pub matched: &'static str,
    /// What the stack is about, in a few words.
    pub title: String,
    /// What most of the difference is for.
    pub category: &'static str,
    /// The `torch.nn` module, or else the file of the program; empty where nothing tells.
    pub module: String,
    /// The bytes and counts.
    #[serde(flatten)]
    pub change: DiffChange,
    /// The stack in `a`, innermost frame first; of several that were matched by their place the largest.
    pub a_frames: Vec<Frame>,
    /// The stack in `b`, likewise.
    pub b_frames: Vec<Frame>,
}

/// All live bytes of one category or module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffGroup {
    /// The category or module; empty where nothing tells.
    pub name: String,
    /// The bytes and counts.
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
    /// `b_bytes` less `a_bytes`.
    pub delta_bytes: i64,
    /// Allocations in `a`.
    pub a_count: u64,
    /// Allocations in `b`.
    pub b_count: u64,
    /// `b_count` less `a_count`.
    pub delta_count: i64,
}
