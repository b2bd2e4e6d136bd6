//! Stores the memory of GPUs over time.
//! Collects one output of `nvidia-smi -q`.

use super::table::mebibytes;
use crate::base::stamp::{self, Stamp};

/// Most GPUs, and most processes on one of them, that are kept.
pub(super) const MOST_CARDS: usize = 1024;
pub(super) const MOST_PROCESSES: usize = 1024;

/// Memory of the GPUs of a machine over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardLog {
    /// GPUs in the order of their first samples.
    pub cards: Vec<Card>,
    /// True if times are milliseconds since the Unix epoch.
    pub has_dates: bool,
    /// False if each sample counts as a second.
    pub has_times: bool,
    /// True if the figures are those that Weights & Biases exports.
    pub is_of_wandb: bool,
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

/// What nvidia-smi says about all GPUs at one moment.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) stamp: Option<Stamp>,
    /// Number of GPUs of the machine, of which `-i` chooses some.
    pub(super) attached: Option<usize>,
    /// GPUs in the order of their addresses, which is also that of their numbers.
    pub(super) gpus: Vec<RecordGpu>,
}

/// What nvidia-smi says about one GPU.
#[derive(Debug, Default)]
pub(super) struct RecordGpu {
    /// Address on the bus, such as `00000000:07:00.0`.
    pub(super) address: String,
    pub(super) name: String,
    pub(super) total_bytes: Option<u64>,
    pub(super) reserved_bytes: Option<u64>,
    pub(super) used_bytes: Option<u64>,
    pub(super) processes: Vec<CardProcess>,
}

/// Place of a value within the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Stamp,
    Attached,
    Name,
    Total,
    Reserved,
    Used,
    Pid,
    ProcessName,
    ProcessUsed,
}

impl Record {
    /// Adds a GPU, to which the values that follow belong.
    pub(super) fn gpu(&mut self, address: &str) {
        if self.gpus.len() < MOST_CARDS {
            self.gpus.push(RecordGpu { address: address.to_owned(), ..RecordGpu::default() });
        }
    }

    /// Adds a process to the last GPU, to which the values that follow belong.
    fn process(&mut self, pid: u32) {
        let Some(gpu) = self.gpus.last_mut() else { return };
        if gpu.processes.len() < MOST_PROCESSES {
            gpu.processes.push(CardProcess { pid, ..CardProcess::default() });
        }
    }

    /// Sets a value, which may be missing, as in `N/A` and `Not available in WDDM driver model`.
    pub(super) fn set(&mut self, field: Field, text: &str) {
        match field {
            Field::Stamp => self.stamp = stamp::stamp(text),
            Field::Attached => self.attached = text.parse().ok(),
            Field::Pid => text.parse().into_iter().for_each(|pid| self.process(pid)),
            _ => self.gpus.last_mut().into_iter().for_each(|gpu| gpu.set(field, text)),
        }
    }
}

impl RecordGpu {
    fn set(&mut self, field: Field, text: &str) {
        // Drivers before 2014 wrote MB and meant MiB.
        let bytes = || mebibytes(text.trim_end_matches("MB").trim_end());
        let process = self.processes.last_mut();
        match (field, process) {
            (Field::Name, _) => text.clone_into(&mut self.name),
            (Field::Total, _) => self.total_bytes = bytes(),
            (Field::Reserved, _) => self.reserved_bytes = bytes(),
            (Field::Used, _) => self.used_bytes = bytes(),
            (Field::ProcessName, Some(process)) => text.clone_into(&mut process.name),
            (Field::ProcessUsed, Some(process)) => process.bytes = bytes().unwrap_or(0),
            _ => {}
        }
    }
}
