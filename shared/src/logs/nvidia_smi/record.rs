//! Collects one output of `nvidia-smi -q`.

use super::log::{CardProcess, MOST_CARDS, MOST_PROCESSES};
use super::table::mebibytes;
use crate::base::stamp::{self, Stamp};

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
