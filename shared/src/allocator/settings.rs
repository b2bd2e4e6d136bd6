//! What decides how the allocator behaves: the options of `PYTORCH_CUDA_ALLOC_CONF` and the version of PyTorch.

use super::conf::{self, ConfError};

const MIB: u64 = 1 << 20;

/// A release of PyTorch, such as 2.11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TorchVersion(pub u32, pub u32);

impl TorchVersion {
    /// Whether equal free blocks are taken in the order in which their segments came, and by address within one.
    ///
    /// Earlier releases go by address alone.
    /// 2.12 counted each block instead (PyTorch pull requests 178362 and 183591), which is not followed.
    pub fn orders_by_segment(self) -> bool {
        self >= Self(2, 13)
    }
}

impl Default for TorchVersion {
    fn default() -> Self {
        Self(2, 11)
    }
}

/// How many intervals `roundup_power2_divisions` has: from 1 MiB to 64 GiB, a power of two each.
pub(super) const ROUNDUP_INTERVALS: usize = 16;

/// The allocator's settings; the default is what PyTorch does where nothing is set.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The release that is followed where releases differ.
    pub version: TorchVersion,
    /// Blocks of this size or more are never split, nor given to smaller requests.
    pub max_split_bytes: Option<u64>,
    /// How much larger than the request an unsplittable block may be.
    pub max_non_split_rounding_bytes: u64,
    /// The segment that requests between 1 and 10 MiB share, in bytes.
    pub large_segment_bytes: u64,
    /// Into how many parts each power of two from 1 MiB on is divided for rounding; 0 or 1 rounds to 512 bytes.
    pub roundup_power2_divisions: [u64; ROUNDUP_INTERVALS],
    /// The share of the allowed memory above which cached segments are given back; 0 is never.
    pub garbage_collection_threshold: f64,
    /// The share of the card that the process may take; 1 is all of it.
    pub per_process_memory_fraction: f64,
    /// Whether segments grow and shrink by pages.
    pub expandable_segments: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: TorchVersion::default(),
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
    /// Reads `PYTORCH_CUDA_ALLOC_CONF`, such as `max_split_size_mb:128,expandable_segments:True`.
    ///
    /// # Errors
    /// What PyTorch refuses is refused, and an option that changes device memory but is not modelled, by its name.
    pub fn parse(conf: &str, version: TorchVersion) -> Result<Self, ConfError> {
        conf::parse(conf, version)
    }

    /// The text that makes these settings; empty for the default ones.
    pub fn to_conf(&self) -> String {
        conf::write(self)
    }

    /// The size of the block for a request.
    pub fn block_bytes(&self, request_bytes: u64) -> u64 {
        super::rounding::block_bytes(request_bytes.min(super::rounding::MOST_BYTES), self)
    }

    /// Whether a block of this size is of the small pool.
    pub fn is_small(block_bytes: u64) -> bool {
        block_bytes <= super::rounding::SMALL_REQUEST
    }

    /// Whether a block of the large pool keeps what lies behind its rounded request, instead of giving it back.
    ///
    /// Expandable segments split off whatever is as long as a block can be, and so does the small pool.
    pub fn keeps_rest(&self, block_bytes: u64, rest_bytes: u64) -> bool {
        !self.expandable_segments && (self.is_oversize(block_bytes) || rest_bytes <= super::rounding::SMALL_REQUEST)
    }

    /// Whether a block of this size is too large to be split.
    pub(super) fn is_oversize(&self, size_bytes: u64) -> bool {
        self.max_split_bytes.is_some_and(|limit| size_bytes >= limit)
    }

    /// The bytes that the process may reserve on a card, where that is less than all.
    pub(super) fn allowed_bytes(&self, total_bytes: u64) -> Option<u64> {
        let fraction = self.per_process_memory_fraction;
        (fraction < 1.0).then_some((fraction * total_bytes as f64) as u64)
    }

    /// The unit in which an expandable segment grows and shrinks.
    pub fn unit_bytes(&self, is_small: bool) -> u64 {
        if is_small { super::rounding::SMALL_SEGMENT } else { self.large_segment_bytes }
    }
}
