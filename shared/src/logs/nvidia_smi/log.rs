//! Stores the memory of GPUs over time.

use crate::logs::printed::OomApi;

/// Most GPUs, and most processes on one of them, that are kept.
pub(super) const MOST_CARDS: usize = 1024;
pub(super) const MOST_PROCESSES: usize = 1024;

/// Memory of the GPUs of a machine over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardLog {
    /// GPUs in the order of their first samples.
    pub cards: Vec<Card>,
    /// True if times are milliseconds since the Unix epoch.
    pub has_dates: bool,
    /// False if each sample counts as a second.
    pub has_times: bool,
    /// True if the figures are those that Weights & Biases exports.
    pub is_of_wandb: bool,
    /// Name of the tool, and the interface of its devices.
    pub tool: (&'static str, OomApi),
    /// GPUs with the percentage of their memory that was in use, from a tool that prints no bytes.
    pub shares: Vec<(u32, f64)>,
    /// True if a table says that no process runs.
    pub lists_none: bool,
    /// Numbers of GPUs that an output of `nvidia-smi -q` lists and that the machine has, if those differ.
    ///
    /// The output has no numbers of GPUs, which are then counted from 0.
    pub chosen: Option<(usize, usize)>,
    /// Number of samples beyond those that are kept.
    pub left_out: u64,
}

/// Memory of one GPU over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    pub index: u32,
    /// Product name, if the log has it.
    pub name: String,
    pub total_bytes: Option<u64>,
    /// Memory that the driver keeps for itself, which is neither in use nor free.
    pub reserved_bytes: Option<u64>,
    /// Samples in the order of the log.
    pub samples: Vec<CardSample>,
    /// Processes of the last sample that lists any.
    pub processes: Vec<CardProcess>,
}

/// Memory of a GPU at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardSample {
    /// Time in milliseconds, ascending.
    pub time_ms: i64,
    pub used_bytes: u64,
}

/// Process on a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardProcess {
    pub pid: u32,
    pub name: String,
    pub bytes: u64,
}

impl Card {
    /// Returns the largest memory in use.
    pub fn peak_bytes(&self) -> u64 {
        let of_processes = self.processes.iter().map(|process| process.bytes).fold(0, u64::saturating_add);
        self.samples.iter().map(|sample| sample.used_bytes).max().unwrap_or(of_processes)
    }
}
