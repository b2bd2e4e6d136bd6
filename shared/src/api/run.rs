//! Defines the document of `snapscope run --json`: what became of a script on virtual GPUs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::report::LogReport;

/// The document of `snapscope run --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunsReport {
    /// Runs in the order of the cards; a run of several ranks has one entry for each.
    pub runs: Vec<RunReport>,
}

/// What became of the script on one card, in one process that used CUDA.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Virtual GPUs as on the command line.
    pub card: String,
    /// Rank of the process, if the script has several.
    pub rank: Option<u64>,
    pub status: RunStatus,
    /// Exit status of the script, 128 plus the signal if one ended it; `null` if it was stopped.
    pub exit_status: Option<i32>,
    /// Version of PyTorch; `null` if the script did not import it.
    pub torch: Option<String>,
    /// Version of CUDA that PyTorch is built for.
    pub cuda: Option<String>,
    pub steps: u64,
    /// Events in the snapshot, of all devices.
    pub events: u64,
    /// Events that the snapshot lacks because they were older than those that it keeps.
    #[serde(default)]
    pub events_lost: u64,
    /// Wall-clock time of the command, in seconds.
    pub seconds: f64,
    /// Highest requested bytes of live tensors, on the device where they are highest.
    pub peak_live_bytes: u64,
    /// Highest rounded bytes of blocks in use, by PyTorch's own count.
    pub peak_allocated_bytes: u64,
    /// Highest bytes of segments, by PyTorch's own count.
    pub peak_reserved_bytes: u64,
    /// Total memory of the device.
    pub capacity_bytes: u64,
    /// Reads of values that a virtual GPU does not know, by the user's line.
    pub values_read: Vec<ValueRead>,
    /// Functions of NVIDIA's libraries that the script called and that are not modeled.
    pub unsupported: Vec<String>,
    /// File of the snapshot.
    pub snapshot: Option<String>,
    /// Reason why the command or a signal ended the script; `null` if it ended by itself.
    pub stopped: Option<RunStop>,
    /// What happened, in a sentence; `null` if it fits.
    pub message: Option<String>,
    /// Out-of-memory errors, the last one last.
    pub ooms: Vec<RunOutOfMemory>,
    /// What an inference engine logged of its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Box<LogReport>>,
    /// What the remedies of `snapscope fix` changed in the script, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub remedies: BTreeMap<String, RemedyFacts>,
}

/// What a remedy changed in a running script.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RemedyFacts {
    /// Places that were changed.
    pub applied: Vec<String>,
    /// What the user has to write for the same.
    pub lines: Vec<RemedyEdit>,
    /// Why the run does not prove the remedy.
    pub refused: Option<String>,
    /// What it changes about the mathematics of this training.
    pub changes: Option<String>,
    /// Bytes that move to the host in each step, and back.
    pub moved_bytes: u64,
    /// Floating-point operations of the forward passes of a step.
    pub flops: u64,
    /// Floating-point operations of forward passes that backward repeats in a step.
    pub more_flops: u64,
    /// Batch of the script as it is.
    pub batch: Option<u64>,
}

/// Edit of a script, or of its command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemedyEdit {
    #[serde(rename = "where")]
    pub place: EditPlace,
    /// Lines, with the indentation of those around them; or words to add to the command.
    pub text: String,
    #[serde(default)]
    pub file: String,
    /// First and last line of the statement.
    #[serde(default)]
    pub line: u64,
    #[serde(default)]
    pub last: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EditPlace {
    Before,
    After,
    Instead,
    Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    Fits,
    OutOfMemory,
    /// The script failed for a reason of its own.
    Failed,
    /// The script, or something that it needs, is not understood.
    Unsupported,
}

// The names in JSON and tables.
crate::names!(RunStatus {
    Fits => "fits",
    OutOfMemory => "out-of-memory",
    Failed => "failed",
    Unsupported => "unsupported",
});

impl RunStatus {
    /// Exit status of the command.
    pub const fn exit_status(self) -> u8 {
        match self {
            Self::Fits => 0,
            Self::OutOfMemory => 1,
            Self::Unsupported => 2,
            Self::Failed => 3,
        }
    }
}

/// Reason why a script was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunStop {
    /// It had taken the steps that were asked for.
    Steps,
    /// Its time was over.
    Time,
    /// It is a server that had started, and nobody sends it requests.
    Serving,
    /// An interrupt at the terminal, or a signal to the command.
    Interrupt,
    /// A signal to the script.
    Signal,
    /// It took more host memory than its limit.
    HostMemory,
    /// It wrote more to the disk than its limit.
    Disk,
}

/// Reads of a value at one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueRead {
    pub file: String,
    pub line: u64,
    pub count: u64,
    /// What the value decides.
    pub kind: ValueKind,
    /// True if the answer was assumed by a rule, such as balanced routing, instead of being zero.
    pub is_assumed: bool,
}

/// What a value that was read decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueKind {
    /// The size of a tensor.
    Size,
    /// A branch or a loop.
    Decision,
    /// A whole number, which may become a size.
    Integer,
    /// A number with a fraction, mostly printed.
    Number,
}

/// Out-of-memory error in a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOutOfMemory {
    pub device: u64,
    pub requested_bytes: u64,
    /// Bytes of the device that were free.
    pub free_bytes: u64,
    /// Optimizer steps before it.
    pub steps: u64,
    /// The user's line that led to it.
    pub file: Option<String>,
    pub line: Option<u64>,
    pub function: Option<String>,
}
