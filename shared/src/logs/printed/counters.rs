//! Stores the counters of PyTorch's allocator for one device.

/// Current and highest value of a counter, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub now_bytes: u64,
    pub peak_bytes: u64,
}

/// Counters of one device, as `torch.cuda.memory_summary` and `torch.cuda.memory_stats` print them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Index of the device; `memory_stats` does not have it.
    pub device: Option<u32>,
    /// Tensors, rounded up to blocks.
    pub allocated: Usage,
    /// Tensors, and blocks that wait for other streams.
    pub active: Usage,
    /// Sizes that the program asked for, before rounding.
    pub requested: Option<Usage>,
    pub reserved: Usage,
    /// Free parts of segments that are in use, which PyTorch can't return to the GPU.
    pub non_releasable: Usage,
    /// Number of times that the allocator emptied its cache and tried again.
    pub retries: u64,
    /// Number of out-of-memory errors.
    pub ooms: u64,
}
