//! Findings as they travel from the worker to the page.

use super::protocol::FrameText;
use serde::{Deserialize, Serialize};

/// Everything that was found in a file, and what was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// Errors first, then warnings; of the same severity what is about more bytes.
    pub rows: Vec<Finding>,
    /// What the GPUs with memory were looked through for, in their order.
    pub looked_at: Vec<LookedAt>,
}

/// One diagnosis: `shared::analysis::Finding` as it travels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A stable name in kebab-case, such as `graphs-kept`.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// How sure the cause is.
    pub confidence: Confidence,
    /// Position of the device.
    pub device: u32,
    /// The bytes that it is about: a step's for what grows.
    pub bytes: u64,
    /// What is there, without a full stop.
    pub title: String,
    /// What shows it.
    pub shows: String,
    /// What to do.
    pub advice: String,
    /// Events to look at, by index.
    pub events: Vec<u32>,
    /// Stacks to look at, each innermost frame first.
    pub stacks: Vec<Vec<FrameText>>,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// Worth knowing.
    #[default]
    Info,
    /// Costs memory or will.
    Warning,
    /// Ends the run, or will.
    Error,
}

/// How sure a finding is of its cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confidence {
    /// Other causes would look the same.
    #[default]
    Low,
    /// The shape of the trace tells it.
    Medium,
    /// Events and frames tell it.
    High,
}

/// What findings of one device are drawn from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookedAt {
    /// Position of the device.
    pub device: u32,
    /// What the program did, in a few words, such as `inference`.
    pub run: String,
    /// Whether that was a training, whose steps are compared; else calls of a model are.
    pub is_training: bool,
    /// How many training steps were compared, or calls of a model; 0 where none were found.
    pub steps: u64,
    /// By how many bytes each step ends higher than the one before.
    pub growth_bytes: u64,
    /// What stays after steps, by why it does.
    pub growth: Vec<GrowthRow>,
    /// What PyTorch could have had of the card, where memory ran out.
    pub recorded_capacity_bytes: Option<u64>,
}

/// What stays after steps for one reason: `shared::analysis::ClassTotal` as it travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrowthRow {
    /// Why it does.
    pub kind: GrowthKind,
    /// The rise of a step; 0 unless it leaks.
    pub bytes_per_step: u64,
    /// Bytes at the end of the last step.
    pub end_bytes: u64,
    /// How many stacks they have.
    pub groups: u64,
    /// The first step, from 0, that any of it rose in.
    pub first_rise: u32,
    /// The last one.
    pub last_rise: u32,
}

/// Why the ends of steps are higher: `shared::analysis::GrowthClass` as it travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GrowthKind {
    /// It grows with each step.
    #[default]
    Leak,
    /// The optimizer's first update brought it.
    OptimizerState,
    /// The first steps brought it.
    WarmUp,
    /// It filled up, or goes up and down.
    Cache,
    /// It came once.
    OneOff,
}
