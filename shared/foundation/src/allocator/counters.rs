//! Sums and counts of what the allocator did.

/// A number of bytes with its peak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauge {
    pub now: u64,
    pub peak: u64,
}

impl Gauge {
    pub(super) fn add(&mut self, bytes: u64) {
        // A damaged trace may claim more than 2^64 bytes.
        self.now = self.now.saturating_add(bytes);
        self.peak = self.peak.max(self.now);
    }

    pub(super) fn sub(&mut self, bytes: u64) {
        self.now = self.now.saturating_sub(bytes);
    }
}

/// Sums and counts since the allocator was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requested bytes of blocks in use and of pending frees.
    pub live_bytes: Gauge,
    /// Rounded bytes of blocks in use.
    pub allocated_bytes: Gauge,
    /// Rounded bytes of blocks in use and of pending frees.
    pub active_bytes: Gauge,
    pub reserved_bytes: Gauge,
    pub segment_allocs: u64,
    pub segment_frees: u64,
    /// Ranges mapped into expandable segments.
    pub maps: u64,
    /// Ranges unmapped from expandable segments.
    pub unmaps: u64,
    /// Requests that released the whole cache and tried again.
    pub retries: u64,
    /// Garbage collections that released at least one segment.
    pub collections: u64,
    pub ooms: u64,
}

impl Counters {
    /// Returns the number of calls that fetched memory from the driver or gave it back; each stalls the program.
    pub fn driver_calls(&self) -> u64 {
        self.segment_allocs + self.segment_frees + self.maps + self.unmaps
    }

    pub(super) fn allocated(&mut self, requested_bytes: u64, block_bytes: u64) {
        self.live_bytes.add(requested_bytes);
        self.allocated_bytes.add(block_bytes);
        self.active_bytes.add(block_bytes);
    }

    pub(super) fn freed(&mut self, block_bytes: u64) {
        self.allocated_bytes.sub(block_bytes);
    }

    pub(super) fn completed(&mut self, requested_bytes: u64, block_bytes: u64) {
        self.live_bytes.sub(requested_bytes);
        self.active_bytes.sub(block_bytes);
    }
}
