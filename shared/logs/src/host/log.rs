//! Stores the memory of processes over time.

use shared::base::Diagnostic;

/// Memory of the processes of one machine over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostLog {
    pub form: HostForm,
    pub clock: Clock,
    /// Offset of the log's time zone from UTC in minutes; 0 if the log does not state it.
    pub zone_min: i64,
    /// Time of each sample in milliseconds, ascending; what it is counted from depends on the clock.
    pub times_ms: Vec<i64>,
    /// Processes in the order of their first samples.
    pub processes: Vec<Process>,
    /// Memory of the machine, or of the control group, if the log has it or it follows from shares of it.
    pub total: Option<Total>,
    pub kills: Vec<Kill>,
    pub pressure: Pressure,
    pub machine: Machine,
    /// Containers as they were at last.
    pub containers: Vec<Container>,
    pub shared: SharedFolder,
    /// Mappings of the processes at the last sample that has any, by name, if the log has them.
    pub mappings: Vec<Mapping>,
    /// Steps of the training that the log mentions: the sample during which each was printed, and its number.
    pub steps: Vec<(u32, u64)>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Tool that writes logs of host memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HostForm {
    /// Lines of `ps`, with or without its header.
    #[default]
    Ps,
    Top,
    /// File of `mprof run`, which belongs to memory_profiler.
    Mprof,
    /// Rows of a table with commas or semicolons.
    Csv,
    /// Table of psutil's figures with spaces, as MemoryMonitor prints it.
    Psutil,
    /// Files of `/proc` about single processes: `smaps_rollup`, `smaps` and `status`.
    Proc,
    Free,
    Meminfo,
    /// System metrics that Weights & Biases exports.
    Wandb,
    /// Messages of earlyoom, which kills processes before the kernel has to.
    Earlyoom,
    KernelLog,
}

shared::names!(HostForm {
    Ps => "ps",
    Top => "top",
    Mprof => "mprof",
    Csv => "csv",
    Psutil => "psutil",
    Proc => "proc",
    Free => "free",
    Meminfo => "meminfo",
    Wandb => "wandb",
    Earlyoom => "earlyoom",
    KernelLog => "kernel-log",
});

/// Meaning of the times of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The log has no times: a sample counts as one second.
    #[default]
    Samples,
    /// The log has times of day without dates: milliseconds since the first midnight.
    TimeOfDay,
    /// Milliseconds since some start, which the log does not state.
    Elapsed,
    /// Milliseconds since the Unix epoch, in the time zone that the log states, or else as if that were UTC.
    Dates,
}

/// Memory of a machine, and how it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    pub bytes: u64,
    pub source: TotalSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TotalSource {
    Stated,
    /// It follows from the shares of memory that the log has for processes.
    Inferred,
    /// It is the limit of the processes' control group, which is lower than the memory of the machine.
    ControlGroup,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    pub pid: u32,
    pub parent: Option<u32>,
    pub user: String,
    /// Command line, or as much of it as the log has.
    pub command: String,
    /// Positions of its samples in [`HostLog::times_ms`], ascending.
    pub samples: Vec<u32>,
    /// Resident set size in KiB at each sample, with shared pages.
    pub rss_kib: Vec<u32>,
    /// Proportional set size in KiB at each sample; empty if the log does not have it.
    pub pss_kib: Vec<u32>,
    /// Pages of files in KiB at each sample, which the system can drop; empty if the log does not have them.
    pub file_kib: Vec<u32>,
    /// Shared memory in KiB at each sample; empty if the log does not have it.
    pub shmem_kib: Vec<u32>,
    /// Arenas of malloc for its threads when they had the most, if the log has them.
    pub arenas: Option<Arenas>,
    /// What its memory consists of at its last sample, if the log has it.
    pub parts: Option<Box<Parts>>,
}

/// Parts of the memory of a process in bytes, as far as the log has them.
///
/// Those by kind are proportional if the log has the PSS, and else resident.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Memory without a file, such as the heap.
    pub anonymous_bytes: Option<u64>,
    /// Pages of files, which the system can drop and read again.
    pub file_bytes: Option<u64>,
    /// Shared memory, such as that in `/dev/shm`.
    pub shmem_bytes: Option<u64>,
    /// Unique set: pages that no other process has.
    pub uss_bytes: Option<u64>,
    /// Memory that stays at its place: locked by `mlock`, or pinned by a driver that tells the kernel.
    ///
    /// Such drivers are those of network cards; pinned memory of PyTorch is in its own snapshots.
    pub pinned_bytes: Option<u64>,
}

/// Arenas of glibc's malloc, without that of the first thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arenas {
    pub bytes: u64,
    pub count: u64,
}

/// Memory of the whole machine over time; a value for each of its samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// Positions of its samples in [`HostLog::times_ms`], ascending.
    pub samples: Vec<u32>,
    /// Memory that programs can still get, with the caches that the system would drop for them.
    pub available_bytes: Vec<u64>,
    pub swap_bytes: Vec<u64>,
    /// All of its memory, if the log states it.
    pub total_bytes: Option<u64>,
}

/// Shared memory in `/dev/shm` over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedFolder {
    /// Its samples, ascending; between two of them, nothing changes.
    pub samples: Vec<SharedSample>,
    /// Number of files that appeared since the start of the log, even if they were removed.
    pub files_so_far: u64,
    pub size_bytes: Option<u64>,
    /// Shared memory of the whole machine, wherever it is: samples and bytes; empty if the log does not have it.
    pub machine: Vec<(u32, u64)>,
    pub left: Option<LeftFiles>,
}

/// Shared memory in `/dev/shm` at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedSample {
    /// Position in [`HostLog::times_ms`].
    pub sample: u32,
    /// Number of the files that appeared since the start of the log and are still there.
    pub new_files: u32,
    pub new_bytes: u64,
    /// Memory in use, of all programs.
    pub used_bytes: u64,
}

/// Files of shared memory that stay after the end of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftFiles {
    pub bytes: u64,
    pub files: u32,
    pub example: String,
}

/// Memory of all mappings of one file, or of one kind without a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// Path, or a name such as `[heap]`.
    pub name: String,
    pub rss_bytes: u64,
    pub pss_bytes: u64,
}

/// Memory of a container, with its processes and the page cache that counts for its limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Container {
    /// What it is, with its name or number.
    pub name: String,
    pub used_bytes: u64,
    /// That of the machine if the container has none.
    pub limit_bytes: u64,
}

/// Who kills processes because memory ran out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Killer {
    /// The kernel, for want of memory in the machine.
    #[default]
    Kernel,
    /// The kernel, because a control group reached its limit.
    ControlGroup,
    Earlyoom,
}

/// What the kernel says about memory that ran out, beside whom it killed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// True if a control group reached its limit.
    pub is_of_cgroup: bool,
    pub limit_bytes: Option<u64>,
    /// Program that asked for memory when none was left, or empty.
    pub asked_by: String,
    pub is_swap_used_up: bool,
    /// Shared memory of the control group, files in /dev/shm among it.
    pub shared_bytes: u64,
}

/// Process that was killed because memory ran out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kill {
    pub pid: u32,
    pub name: String,
    /// Resident set size when it was killed, with shared pages; `None` if the message does not have it.
    pub rss_bytes: Option<u64>,
    pub killer: Killer,
    /// Last sample before it.
    pub sample: Option<u32>,
}

impl Pressure {
    pub fn is_empty(&self) -> bool {
        !self.is_of_cgroup && self.asked_by.is_empty()
    }
}

impl Parts {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Machine {
    pub(super) fn push(&mut self, sample: u32, available_bytes: u64, swap_bytes: u64) {
        self.samples.push(sample);
        self.available_bytes.push(available_bytes);
        self.swap_bytes.push(swap_bytes);
    }

    pub(super) fn pop(&mut self) {
        self.samples.pop();
        self.available_bytes.pop();
        self.swap_bytes.pop();
    }

    /// Returns the bytes in use at each of its samples; without a total, those above the least use in the log.
    pub fn used_bytes(&self) -> Vec<u64> {
        let most = self.total_bytes.or_else(|| self.available_bytes.iter().copied().max()).unwrap_or(0);
        self.available_bytes.iter().map(|available| most.saturating_sub(*available)).collect()
    }
}

impl Process {
    /// Returns the memory in KiB that is counted at each of its samples: its PSS if the log has it, or else its RSS.
    pub fn counted_kib(&self) -> &[u32] {
        if self.pss_kib.len() == self.samples.len() { &self.pss_kib } else { &self.rss_kib }
    }

    /// Returns true if the log tells pages of files and shared memory from other memory.
    pub fn has_kinds(&self) -> bool {
        self.file_kib.len() == self.samples.len() && self.shmem_kib.len() == self.samples.len()
    }

    /// Returns true if shared pages count once in all processes together.
    pub fn has_pss(&self) -> bool {
        !self.pss_kib.is_empty() && self.pss_kib.len() == self.samples.len()
    }
}
