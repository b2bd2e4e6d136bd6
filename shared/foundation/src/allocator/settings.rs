//! Settings of the allocator: the options of `PYTORCH_CUDA_ALLOC_CONF` and the version of PyTorch.

const MIB: u64 = 1 << 20;

/// A release of PyTorch (major, minor), such as 2.11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TorchVersion(pub u32, pub u32);

impl TorchVersion {
    /// Returns true if free blocks of equal size are ordered by the age of their segments, then by address.
    ///
    /// Earlier releases order them by address alone.
    /// 2.12 counted each block instead (PyTorch pull requests 178362 and 183591), which is not modelled.
    pub fn orders_by_segment(self) -> bool {
        self >= Self(2, 13)
    }
}

impl Default for TorchVersion {
    fn default() -> Self {
        Self(2, 11)
    }
}

/// Number of intervals of `roundup_power2_divisions`: powers of two from 1 MiB to 64 GiB.
pub(super) const ROUNDUP_INTERVALS: usize = 16;

/// Settings of the allocator; the default is what PyTorch does if nothing is set.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Release whose rules are followed where releases differ.
    pub version: TorchVersion,
    /// Bytes that the device's allocator adds to each request before it rounds; 0 for CUDA.
    pub padding_bytes: u64,
    /// Blocks of this size or more are never split, nor given to smaller requests.
    pub max_split_bytes: Option<u64>,
    /// Limit in bytes of what an unsplittable block may have beyond the request.
    pub max_non_split_rounding_bytes: u64,
    /// Size in bytes of a segment for blocks between 1 and 10 MiB.
    pub large_segment_bytes: u64,
    /// Number of size steps between a power of two from 1 MiB on and the next; 0 or 1 rounds to 512 bytes.
    ///
    /// The first entry also holds for sizes below 1 MiB.
    pub roundup_power2_divisions: [u64; ROUNDUP_INTERVALS],
    /// Fraction of the allowed memory above which cached segments are released; 0 turns the garbage collection off.
    pub garbage_collection_threshold: f64,
    /// Fraction of the device's memory that the process may take, up to 1.
    pub per_process_memory_fraction: f64,
    /// True if segments grow and shrink by pages.
    pub expandable_segments: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: TorchVersion::default(),
            padding_bytes: 0,
            max_split_bytes: None,
            max_non_split_rounding_bytes: 20 * MIB,
            large_segment_bytes: 20 * MIB,
            roundup_power2_divisions: [0; ROUNDUP_INTERVALS],
            garbage_collection_threshold: 0.0,
            per_process_memory_fraction: 1.0,
            expandable_segments: false,
        }
    }
}

impl Settings {
    /// Returns true if a block of this size is too large to be split.
    pub(super) fn is_oversize(&self, size_bytes: u64) -> bool {
        self.max_split_bytes.is_some_and(|limit| size_bytes >= limit)
    }

    /// Returns the bytes that the process may reserve on a device, `None` if it may take all of it.
    pub(super) fn allowed_bytes(&self, total_bytes: u64) -> Option<u64> {
        let fraction = self.per_process_memory_fraction;
        (fraction < 1.0).then_some((fraction * total_bytes as f64) as u64)
    }
}
