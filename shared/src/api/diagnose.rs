//! The document of `snapscope diagnose --json`.

use super::FrameRow;
use serde::Serialize;

/// Everything that was found, the most important first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DiagnoseReport {
    /// What each device with memory in use did.
    pub runs: Vec<RunRow>,
    /// The findings of all files.
    pub findings: Vec<FindingRow>,
    /// What stays after the steps of each device with steps.
    pub growth: Vec<GrowthReport>,
}

/// What one device did while it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunRow {
    /// The file as it was named.
    pub file: String,
    /// The device index.
    pub device: i64,
    /// `training`, `forward`, `inference`, `generation`, `evaluation`, `set-up`, `no-trace` or `unknown`.
    pub kind: &'static str,
    /// How many training steps were told apart; 0 where there are not two.
    pub steps: u64,
}

/// What the steps of one device leave behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GrowthReport {
    /// The file as it was named.
    pub file: String,
    /// The device index.
    pub device: i64,
    /// How many steps were compared.
    pub steps: u64,
    /// By how many bytes the end of a step is higher than the one before, of all that leaks.
    pub bytes_per_step: u64,
    /// When the card is full; null without a leak, and where nothing tells how much PyTorch can have.
    pub until_full: Option<UntilFullRow>,
    /// The sums of each class that there is.
    pub classes: Vec<GrowthClassRow>,
    /// What leaks most first, then what holds the most bytes; what has no class is left out.
    pub groups: Vec<GrowthGroupRow>,
}

/// When what leaks has used up what PyTorch can have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UntilFullRow {
    /// What PyTorch can have.
    pub budget_bytes: u64,
    /// What tells it: `capacity`, `capacity-less-outside` or `out-of-memory`.
    pub source: &'static str,
    /// So many more steps fit.
    pub steps: u64,
    /// The events of so many steps.
    pub events: u64,
    /// The microseconds of so many steps; null in a trace without times.
    pub time_us: Option<u64>,
}

/// What all that is of one class holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GrowthClassRow {
    /// `leak`, `optimizer-state`, `warm-up`, `cache` or `one-off`.
    pub class: &'static str,
    /// The rise of a step; 0 unless it leaks.
    pub bytes_per_step: u64,
    /// Bytes at the end of the last step.
    pub end_bytes: u64,
    /// How many allocations those are.
    pub end_count: u64,
    /// How many stacks they have, or sizes where stacks are missing.
    pub groups: u64,
    /// The first step, from 0, that any of it rose in.
    pub first_rise: u32,
    /// The last one.
    pub last_rise: u32,
}

/// What one stack holds at the ends of steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GrowthGroupRow {
    /// Its class.
    pub class: &'static str,
    /// The rise of a step; 0 unless it leaks.
    pub bytes_per_step: u64,
    /// Bytes at the end of the last step.
    pub end_bytes: u64,
    /// How many allocations those are.
    pub end_count: u64,
    /// The first step, from 0, that it rose in.
    pub first_rise: u32,
    /// The last one.
    pub last_rise: u32,
    /// The size of each, where they have no stack.
    pub size_bytes: Option<u64>,
    /// The stack, innermost frame first.
    pub stack: Vec<FrameRow>,
}

/// One diagnosis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingRow {
    /// The file as it was named.
    pub file: String,
    /// A stable name in kebab-case, such as `graphs-kept`.
    pub code: &'static str,
    /// `info`, `warning` or `error`: how much it matters.
    pub severity: &'static str,
    /// `low`, `medium` or `high`: how sure the cause is.
    pub confidence: &'static str,
    /// The device index.
    pub device: i64,
    /// The bytes that it is about: a step's for what grows.
    pub bytes: u64,
    /// What is there.
    pub title: String,
    /// The line of the user's own code that it is about; null where none is known.
    pub line: Option<LineRow>,
    /// What shows it.
    pub evidence: EvidenceRow,
    /// What to do.
    pub advice: String,
}

/// A line of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineRow {
    /// The file as the stack names it.
    pub file: String,
    /// The function.
    pub function: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u64,
}

/// What shows a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceRow {
    /// How it was reached.
    pub shows: String,
    /// Events to look at, by index.
    pub events: Vec<u32>,
    /// Stacks to look at, each innermost frame first.
    pub stacks: Vec<Vec<FrameRow>>,
}
