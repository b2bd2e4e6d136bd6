//! Stores the memory of NCCL by process and GPU.

/// Memory of NCCL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NcclLog {
    /// Processes in the order of their first lines, one for each GPU that a process uses.
    pub processes: Vec<NcclProcess>,
    /// Kinds of allocations on GPUs, the one with the most memory first.
    pub sizes: Vec<NcclSize>,
    /// Number of allocations beyond those that are kept.
    pub left_out: u64,
}

/// Memory of NCCL in one process on one GPU; sizes are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NcclProcess {
    pub host: String,
    pub pid: u32,
    /// Number of the GPU as CUDA has it within the process.
    pub device: u32,
    /// Number of the GPU as nvidia-smi has it, if the log states it.
    pub gpu: Option<u32>,
    /// Rank in the largest communicator and its number of ranks, if the log states them.
    pub rank: Option<(u32, u32)>,
    /// Communicators that the log says were created.
    pub communicators: u64,
    /// Memory on the GPU at the end of the log, as it was asked for.
    pub device_bytes: u64,
    /// The same in whole pages, which is what the GPU has less.
    pub paged_bytes: u64,
    /// Most of [`paged_bytes`](Self::paged_bytes).
    pub peak_bytes: u64,
    /// Allocations on the GPU.
    pub allocations: u64,
    /// Allocations on the GPU that were freed, as far as the log shows it.
    pub freed: u64,
    /// Host memory that GPUs reach, which cannot be swapped out.
    pub pinned_bytes: u64,
    /// Shared memory of the host that this process created.
    pub shared_bytes: u64,
    /// Memory on the GPU over time, in whole pages, if the lines have dates.
    pub samples: Vec<NcclSample>,
}

/// Memory on a GPU at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NcclSample {
    /// Milliseconds since the Unix epoch, ascending.
    pub time_ms: i64,
    pub bytes: u64,
}

/// Allocations of one size at one place of NCCL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NcclSize {
    /// Source file and line, such as `transport/net.cc:377`, or empty.
    pub place: String,
    pub bytes: u64,
    pub count: u64,
}
