//! The parameters of the tools; their comments are what an agent reads.

use std::path::PathBuf;

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

/// What to open.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct OpenOptions {
    /// Path of a snapshot or a log, of a folder with such files, or a shared link (https://host/s/TOKEN)
    pub(super) path: String,
}

/// Which snapshot.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct SummaryOptions {
    /// Path or link of the snapshot
    pub(super) snapshot: String,
}

/// Whose findings.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct FindingsOptions {
    /// Paths or links of snapshots, logs or folders; several of one run are explained together
    pub(super) files: Vec<String>,
    /// GPU memory such as 80GiB, or a GPU such as h100-80gb: predicts when growth fills it
    pub(super) capacity: Option<String>,
    /// Report a peak above this size as an error
    pub(super) max_peak: Option<String>,
    /// Report reserved memory above this size as an error
    pub(super) max_reserved: Option<String>,
    /// Report growth per step above this size as an error
    pub(super) max_growth: Option<String>,
    /// Folder with the source code, to quote the lines
    pub(super) source: Option<String>,
}

/// Which groups of live memory.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct PeakOptions {
    /// Path or link of the snapshot
    pub(super) snapshot: String,
    /// stack (default), frame, function, module, category, stream, pool or size
    pub(super) by: Option<String>,
    /// After this event instead of at the peak; -1 is before the first
    pub(super) at: Option<i64>,
    /// GPU index; the one with the highest peak if absent
    pub(super) device: Option<i64>,
    /// Number of groups; 10 if absent
    pub(super) top: Option<usize>,
}

/// Which allocations.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct AllocationsOptions {
    /// Path or link of the snapshot
    pub(super) snapshot: String,
    /// Text in a frame, the module, the category or an annotation around the allocation
    pub(super) filter: Option<String>,
    /// The filter is a regular expression
    pub(super) regex: Option<bool>,
    /// First event of a range; without a range, the peak is shown
    pub(super) from: Option<u32>,
    /// Last event of a range
    pub(super) to: Option<u32>,
    /// Of a range: any, born, died, survived, born-and-died, or born-and-kept, which is what leaks
    pub(super) part: Option<String>,
    /// stack (default), frame, function, module, category, stream, pool or size
    pub(super) by: Option<String>,
    /// GPU index; the one with the highest peak if absent
    pub(super) device: Option<i64>,
    /// Number of groups; 10 if absent
    pub(super) top: Option<usize>,
}

/// Which two moments.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct DiffOptions {
    /// Path or link of the first snapshot
    pub(super) a: String,
    /// Path or link of the second snapshot; the first again to compare two of its moments
    pub(super) b: String,
    /// Event of A instead of its peak
    pub(super) at_a: Option<i64>,
    /// Event of B instead of its peak
    pub(super) at_b: Option<i64>,
    /// Step of A whose peak is compared, from 1
    pub(super) step_a: Option<usize>,
    /// Step of B whose peak is compared, from 1
    pub(super) step_b: Option<usize>,
    /// stack (default), category or module
    pub(super) by: Option<String>,
    /// GPU index in both
    pub(super) device: Option<i64>,
    /// Number of rows; 10 if absent
    pub(super) top: Option<usize>,
}

/// Under which settings.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct ReplayOptions {
    /// Path or link of the snapshot
    pub(super) snapshot: String,
    /// Allocator settings as `PYTORCH_CUDA_ALLOC_CONF`, such as `expandable_segments:True`; the recorded ones if absent
    pub(super) settings: Option<String>,
    /// GPU memory such as 80GiB, or a GPU such as h100-80gb; the recorded limit if absent
    pub(super) capacity: Option<String>,
    /// Try other settings, all known GPUs and other batch sizes as well
    pub(super) sweep: Option<bool>,
    /// GPU index; the one with the highest peak if absent
    pub(super) device: Option<i64>,
}

/// What has to fit.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct FitOptions {
    /// Training config (TOML, YAML, JSON, or Hugging Face's config.json): finds the largest batch that fits the card
    pub(super) config: Option<String>,
    /// Command in place of a config, such as ["python", "train.py"]: finds the smallest card that holds it, or, with {}
    /// in place of a value, the largest value that fits the card, and with two the largest first for each second
    pub(super) command: Option<Vec<String>>,
    /// Virtual GPU such as h100-80gb or custom:48GiB, for a config or a command with {}
    pub(super) card: Option<String>,
    /// Cards to choose from, for a command; all known ones if absent
    pub(super) cards: Option<Vec<String>>,
    /// Optimizer steps of each run
    pub(super) steps: Option<u64>,
    /// Tokens per sample, for a config
    pub(super) seq_len: Option<u64>,
    /// Folder in which to run; the current one if absent
    pub(super) folder: Option<PathBuf>,
}

/// What has to fit, with changes that may be tried.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct FixOptions {
    /// Training config (TOML, YAML, JSON, or Hugging Face's config.json)
    pub(super) config: Option<String>,
    /// Command in place of a config, such as ["python", "train.py"]
    pub(super) command: Option<Vec<String>>,
    /// Virtual GPU such as t4-16gb or custom:48GiB
    pub(super) card: Option<String>,
    /// Optimizer steps of each run
    pub(super) steps: Option<u64>,
    /// Tokens per sample, for a config
    pub(super) seq_len: Option<u64>,
    /// Folder in which to run; the current one if absent
    pub(super) folder: Option<PathBuf>,
}

/// What to run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct RunOptions {
    /// The command, such as ["python", "train.py", "--config", "base.yaml"]
    pub(super) command: Vec<String>,
    /// Virtual GPUs such as h100-80gb, 8x h100-80gb or custom:48GiB; a100-80gb if absent
    pub(super) card: Option<String>,
    /// Stop after this many optimizer steps; 2 or 3 are enough for most questions
    pub(super) steps: Option<u64>,
    /// Stop after this time, such as 90s or 10min
    pub(super) time: Option<String>,
    /// Snapshot file to write; named by the script if absent
    pub(super) output: Option<String>,
    /// Folder in which to run; the current one if absent
    pub(super) folder: Option<PathBuf>,
}
