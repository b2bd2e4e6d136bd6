//! Defines the document of `snapscope fix --json`, and of jobs with this task: what makes a training fit a card.

use serde::{Deserialize, Serialize};

/// Remedies that were tried on a training, each by a run of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FixReport {
    /// Virtual GPU to fit, as on the command line.
    pub card: String,
    /// Name of the script or config.
    pub name: String,
    /// Memory of the card that PyTorch's allocator can have, in bytes.
    pub capacity_bytes: u64,
    /// Memory that is to stay free for `fits` to be true, in bytes.
    pub margin_bytes: u64,
    /// Optimizer steps of each run.
    pub steps: u64,
    /// The training as it is, on a card of this kind that is large enough.
    pub baseline: FixFigures,
    /// What is alive at the baseline's peak, by category, the largest first.
    pub at_peak: Vec<FixShare>,
    /// Remedies that save memory, from the cheapest to the strongest; those that change the mathematics come last.
    pub remedies: Vec<FixRemedy>,
    /// Names of the fewest and cheapest remedies that fit together; empty if none is needed or none is enough.
    pub smallest_set: Vec<String>,
    /// The training with all of `smallest_set`, on the card itself; without a set, with the remedies that save most.
    pub together: Option<FixRemedy>,
    /// Largest batch that fits with `smallest_set`; `null` if the batch is not known, or if none fits.
    pub largest_batch: Option<u64>,
    /// Remedies that are not among `remedies`, with the reason in a sentence.
    pub left_out: Vec<FixLeftOut>,
    /// Sentences about the whole, such as that the runs were interrupted.
    pub notes: Vec<String>,
}

/// Figures of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FixFigures {
    /// Highest requested bytes of live tensors.
    pub peak_live_bytes: u64,
    /// Highest bytes of segments, by PyTorch's own count.
    pub peak_reserved_bytes: u64,
    /// True if the run fits the card with the margin.
    pub fits: bool,
    /// Highest live bytes in each of several equal parts of the events.
    pub curve: Vec<u64>,
}

/// Part of the memory at a peak.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FixShare {
    /// Category, as the page names it.
    pub category: String,
    pub bytes: u64,
}

/// A remedy, or several together, that a run has proven.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FixRemedy {
    /// Name on the command line, such as `checkpoint`; several are joined by `+`.
    pub name: String,
    /// What it does, as an imperative clause without its full stop.
    pub title: String,
    /// What it changes about the mathematics of the training, as a clause; `null` if nothing.
    pub changes: Option<String>,
    #[serde(flatten)]
    pub figures: FixFigures,
    /// Bytes by which the peak of reserved memory is lower than the baseline's.
    pub saves_bytes: u64,
    pub cost: FixCost,
    /// Places that were changed, such as `12 blocks of GPT.blocks (Block)`.
    pub applied: Vec<String>,
    /// Lines to add to the script, its command or its config.
    pub lines: Vec<String>,
}

/// How much slower a remedy makes a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FixCost {
    pub class: FixCostClass,
    /// Why, with its figure where there is one: `12.4 GB over PCIe in each step`.
    pub reason: String,
}

/// Class of a slowdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FixCostClass {
    /// As fast, or faster.
    #[default]
    None,
    /// A few percent.
    Small,
    /// About a third, as a second forward pass.
    Moderate,
    /// More than that.
    Large,
}

/// A remedy that is not offered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FixLeftOut {
    pub name: String,
    /// Why, as a clause without its full stop.
    pub reason: String,
}
