//! Reads what the processes of a run reported.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use shared::api::{RemedyFacts, RunOutOfMemory, ValueRead};

/// Facts of a process that imported PyTorch; all but the first are missing until it uses CUDA.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Reported {
    pub(super) pid: u32,
    pub(super) rank: Option<u64>,
    pub(super) torch: Option<String>,
    pub(super) cuda: Option<String>,
    pub(super) hip: Option<String>,
    pub(super) import_error: Option<String>,
    pub(super) hook_error: Option<String>,
    pub(super) steps: u64,
    /// `None` if the process did not use CUDA.
    pub(super) devices: Option<Vec<ReportedDevice>>,
    pub(super) ooms: Vec<ReportedOom>,
    pub(super) is_out_of_memory: Option<bool>,
    /// Reason of the latest snapshot.
    pub(super) reason: Option<String>,
    pub(super) snapshot: Option<String>,
    pub(super) stopped: Option<String>,
    pub(super) exception: Option<ReportedException>,
    pub(super) values: Vec<ValueRead>,
    /// Events that the full histories of all devices have pushed out.
    pub(super) events_lost: u64,
    /// Functions that are not modeled, with the lines that led to them.
    pub(super) unsupported: Vec<ReportedCall>,
    /// Reason why values are not followed.
    pub(super) values_error: Option<String>,
    /// Parts of the hook that failed, each with its first error; the script went on without them.
    pub(super) failures: Vec<String>,
    /// Sentences about what was answered without being known.
    pub(super) notes: Vec<String>,
    /// True if the script compiles code, inside of which values are not followed.
    pub(super) is_compiled: bool,
    pub(super) remedies: BTreeMap<String, RemedyFacts>,
}

/// Figures of a device, by PyTorch's own count.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct ReportedDevice {
    pub(super) total: u64,
    pub(super) peak_allocated: u64,
    pub(super) peak_reserved: u64,
}

/// An out-of-memory error.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct ReportedOom {
    pub(super) device: u64,
    pub(super) size: u64,
    pub(super) free: u64,
    pub(super) steps: u64,
    pub(super) file: Option<String>,
    pub(super) line: Option<u64>,
    pub(super) function: Option<String>,
}

impl ReportedOom {
    /// Returns the error in the form that programs read.
    pub(super) fn told(&self) -> RunOutOfMemory {
        let Self { device, size: requested_bytes, free: free_bytes, steps, file, line, function } = self.clone();
        RunOutOfMemory { device, requested_bytes, free_bytes, steps, file, line, function }
    }
}

/// First call of a function that is not modeled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct ReportedCall {
    pub(super) function: String,
    pub(super) file: Option<String>,
    pub(super) line: Option<u64>,
}

/// The exception that ended a process.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct ReportedException {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) message: String,
    pub(super) file: Option<String>,
    pub(super) line: Option<u64>,
}

impl Reported {
    /// Returns true if the process uses CUDA, lives, and has not yet written its last snapshot.
    pub(super) fn is_writing(&self) -> bool {
        self.devices.is_some() && self.stopped.is_none() && Path::new(&format!("/proc/{}", self.pid)).exists()
    }

    pub(super) fn used_cuda(&self) -> bool {
        self.devices.as_ref().is_some_and(|devices| !devices.is_empty())
    }

    /// Returns true if the process ended for lack of memory, also if it was killed before it could say so.
    pub(super) fn is_out_of_memory(&self) -> bool {
        self.is_out_of_memory.unwrap_or(self.reason.as_deref() == Some("out-of-memory"))
    }
}

/// Reads all reports, sorted by rank and by age.
///
/// A file that cannot be read is left out: the process that wrote it may have been killed by a full disk.
pub(super) fn read(folder: &Path) -> Vec<Reported> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut named: Vec<_> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok().filter(|name| name.starts_with("process-"))?;
            let started: u128 = name.strip_suffix(".json")?.rsplit_once('-')?.1.parse().ok()?;
            let reported: Reported = serde_json::from_slice(&std::fs::read(entry.path()).ok()?).ok()?;
            Some((started, reported))
        })
        .collect();
    named.sort_by_key(|(started, reported)| (reported.rank.unwrap_or(0), *started));
    named.into_iter().map(|(_, reported)| reported).collect()
}
