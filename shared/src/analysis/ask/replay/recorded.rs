//! Driver that answers as the recorded one did: with the same addresses, and full when the recording says so.

use crate::allocator::{Driver, LAST_ADDR};
use crate::trace::{Action, Device};

/// Memory of the device if it is unknown, 1 TiB; it then only decides how large reservations are.
const TOTAL: u64 = 1 << 40;
/// Start of the addresses of memory that the recording did not fetch.
const UNKNOWN: u64 = LAST_ADDR;

/// Driver call of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) event: usize,
    pub(super) action: Action,
    pub(super) addr: u64,
    pub(super) size_bytes: u64,
}

/// Driver that answers the calls of a recording in their order.
#[derive(Debug)]
pub(super) struct RecordedCard {
    calls: Vec<Call>,
    /// Index of the next call.
    next: usize,
    /// Calls from this index on belong to later steps.
    limit: usize,
    /// Bytes of addresses given out that the recording does not have.
    unknown_bytes: u64,
    total_bytes: u64,
}

impl RecordedCard {
    pub(super) fn new(device: &Device, total_bytes: Option<u64>) -> Self {
        let driver = |event: &usize| super::steps::is_driver(device.events.actions().at(*event));
        let call = |event| {
            let row = device.events.at(event);
            Call { event, action: row.action, addr: row.addr, size_bytes: row.size_bytes }
        };
        let calls = (0..device.events.len()).filter(driver).map(call).collect();
        Self { calls, next: 0, limit: 0, unknown_bytes: 0, total_bytes: total_bytes.unwrap_or(TOTAL).min(UNKNOWN) }
    }

    pub(super) fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Begins a step, to which the calls from index `next` on and before event `until` belong.
    pub(super) fn begin(&mut self, next: usize, until: usize) {
        self.next = next;
        self.limit = self.calls.partition_point(|call| call.event < until);
    }

    /// Returns the index after the last call of the step.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    fn peek(&self) -> Option<Call> {
        (self.next < self.limit).then(|| self.calls[self.next])
    }

    /// Returns the address of the next call if it is this one, and passes it.
    ///
    /// Returns `None` for an address that no device has, as in a damaged file.
    fn answer(&mut self, action: Action, size_bytes: u64) -> Option<u64> {
        let call = self.peek().filter(|call| (call.action, call.size_bytes) == (action, size_bytes))?;
        call.addr.checked_add(size_bytes).filter(|&end| end <= LAST_ADDR)?;
        self.next += 1;
        Some(call.addr)
    }

    /// Returns an address for memory that the recording did not fetch.
    fn unknown(&mut self, size_bytes: u64) -> u64 {
        self.unknown_bytes = (self.unknown_bytes + size_bytes) % UNKNOWN;
        UNKNOWN + self.unknown_bytes
    }

    /// Returns true if the device was full: the recording gives memory back next, or the step has no further call.
    fn is_full(&self) -> bool {
        self.peek().is_none_or(|call| matches!(call.action, Action::SegmentFree | Action::SegmentUnmap))
    }
}

impl Driver for RecordedCard {
    fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    fn free_bytes(&self) -> u64 {
        0
    }

    fn malloc(&mut self, size_bytes: u64) -> Option<u64> {
        let answer = self.answer(Action::SegmentAlloc, size_bytes);
        if answer.is_some() || self.is_full() {
            return answer;
        }
        Some(self.unknown(size_bytes))
    }

    fn free(&mut self, _: u64, size_bytes: u64) {
        self.answer(Action::SegmentFree, size_bytes);
    }

    fn reserve(&mut self, size_bytes: u64) -> u64 {
        let is_map = |call: &Call| call.action == Action::SegmentMap && call.addr <= LAST_ADDR;
        match self.peek().filter(is_map) {
            Some(call) => call.addr,
            None => self.unknown(size_bytes),
        }
    }

    fn unreserve(&mut self, _: u64, _: u64) {}

    fn map(&mut self, _: u64, size_bytes: u64, _: u64) -> bool {
        self.answer(Action::SegmentMap, size_bytes).is_some() || !self.is_full()
    }

    fn unmap(&mut self, _: u64, size_bytes: u64, _: u64) {
        self.answer(Action::SegmentUnmap, size_bytes);
    }
}
