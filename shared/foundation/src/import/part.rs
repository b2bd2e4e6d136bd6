//! Selects a part of a trace, and keeps its events while the whole file is read a second time.
//!
//! A file is read twice, because only its end tells which allocations were live before the trace:
//!
//! ```text
//! Importer::overview() ─ push … ─ finish_overview() ─→ Overview ─ part(range) ─→ PartRequest
//! Importer::part(request) ─ push … ─ finish() ─→ Trace of the part
//! ```
//!
//! The first pass finds the devices, and keeps a bounded curve and no event; the second keeps the requested events.
//! It tracks the live allocations from the device's first event to its last one, because the part begins and ends with
//! the allocations that were live at that time:
//!
//! ```text
//! events   0 alloc a   1 alloc b │ 2 alloc c   3 free a │ 4 free x   5 free c
//! part                           │    2..4              │
//! older    b, and x, which is freed later without an alloc
//! freed    a, by event 1 of the part
//! ```
//!
//! `Device::part` says what is known about the rest.
//!
//! Cost: the events of the part, and a map of all addresses in the trace.
//!
//! Invariant: the curve, the peak and the stacks of a part are those of the whole trace.

use super::error::ImportError;
use super::preview::PreviewTrace;
use crate::base::{ShortSort, format};
use crate::trace::{Action, Event, EventTable, FreedEarlier, StackId};
use hashbrown::HashMap;
use std::ops::Range;

/// Contents of a file, without its events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    pub file_bytes: u64,
    /// Devices with events, by ascending index.
    pub devices: Vec<OverviewDevice>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewDevice {
    /// CUDA device index.
    pub index: i64,
    /// Curve and range of its events.
    pub trace: PreviewTrace,
    /// Live bytes before the first event.
    pub first_live_bytes: u64,
}

/// Range of events that is to be imported; created by [`OverviewDevice::part`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartRequest {
    /// CUDA device index.
    pub(super) device: i64,
    /// Range of the device's events among all events of the file.
    pub(super) rows: Range<u32>,
    /// Requested range of the device's events.
    pub(super) events: Range<u32>,
    pub(super) freeing: Action,
}

impl PartRequest {
    pub fn device(&self) -> i64 {
        self.device
    }

    pub fn events(&self) -> Range<u32> {
        self.events.clone()
    }
}

impl OverviewDevice {
    /// Returns the highest live bytes, including allocations from before the trace.
    pub fn peak_bytes(&self) -> u64 {
        let highest = self.trace.highest_bytes.iter().copied().max().unwrap_or(0);
        (self.first_live_bytes as i64).saturating_add(highest).max(0) as u64
    }

    /// Returns the range of the last `events` events, or of all if there are fewer.
    pub fn last(&self, events: u64) -> Range<u64> {
        self.trace.events.saturating_sub(events)..self.trace.events
    }

    /// Returns a range of `events` events around the peak, or of all if there are fewer.
    ///
    /// Three quarters of them are from before the peak, because what leads to a peak says more than what follows it.
    pub fn around_peak(&self, events: u64) -> Range<u64> {
        let total = self.trace.events;
        let events = events.min(total);
        let start = self.trace.peak_moment.saturating_sub(events / 4 * 3).min(total - events);
        start..start + events
    }

    /// Creates the request for a range of the device's events.
    ///
    /// # Errors
    /// Returns an error if the range is empty or not within the trace.
    pub fn part(&self, events: Range<u64>) -> Result<PartRequest, ImportError> {
        let total = self.trace.events;
        let (shown, of) = (format!("{}..{}", events.start, events.end), format!("GPU {}", self.index));
        let has = format!("{of} has {} (0..{total}).", format::counted(total, "event"));
        let none = |message: String| Err(ImportError::new("no-such-part", message, &has));
        if events.start >= events.end {
            return none(format!("The range {shown} contains no events"));
        }
        if events.end > total {
            return none(format!("The range {shown} ends after the last event of {of}"));
        }
        let PreviewTrace { ref rows, freeing, .. } = self.trace;
        // A trace has fewer than 2^32 events.
        let events = events.start as u32..events.end as u32;
        Ok(PartRequest { device: self.index, rows: rows.clone(), events, freeing })
    }
}

/// Returns the error for a file in which two passes found different events.
pub(super) fn changed() -> ImportError {
    ImportError::new(
        "file-changed",
        "The file changed between the first and the second read",
        "Wait until no process writes to the file, then open it again.",
    )
}

/// Returns the error for a file whose lists are nested so that no range of events can be chosen.
pub(super) fn odd_lists() -> ImportError {
    ImportError::new(
        "no-parts",
        "The events of this file are nested in an unusual way, so a range of them cannot be selected",
        "Open the whole file.",
    )
}

/// Live allocation whose `alloc` was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) born: u32,
    pub(super) size_bytes: u64,
    pub(super) stack: StackId,
}

/// State of a part while the file is read.
#[derive(Clone, Debug, Default)]
pub(super) struct Keeper {
    pub(super) request: PartRequest,
    /// Live allocation at each address, `None` if the last one there was freed.
    pub(super) used: HashMap<u64, Option<Open>>,
    /// Live allocations at the end of the part, once a later event was read.
    pub(super) at_end: Option<Vec<(u64, Open)>>,
    /// Allocations from before the part whose address was allocated again before its end, without a free in between.
    pub(super) superseded: Vec<(u64, Open)>,
    pub(super) freed: Vec<FreedEarlier>,
    /// Address and size of each block that is freed after the part and has no `alloc`.
    pub(super) freed_later: Vec<(u64, u64)>,
    /// Segment events after the part.
    pub(super) segments_later: Vec<Event>,
}

impl Keeper {
    pub(super) fn new(request: &PartRequest) -> Self {
        Self { request: request.clone(), ..Self::default() }
    }

    /// Processes the next event of the file; events of the part go to `kept`.
    pub(super) fn event(&mut self, row: u32, event: Event, kept: &mut EventTable) {
        if !self.request.rows.contains(&row) {
            return;
        }
        let index = row - self.request.rows.start;
        let part = self.request.events.clone();
        if index >= part.end && self.at_end.is_none() {
            self.at_end = Some(self.open());
        }
        if part.contains(&index) {
            kept.push(event);
        }
        match event.action {
            Action::Alloc => self.alloc(index, event),
            action if action == self.request.freeing => self.free(index, event),
            Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap
                if index >= part.end =>
            {
                self.segments_later.push(event);
            }
            _ => {}
        }
    }

    /// Returns the live allocations by ascending address.
    pub(super) fn open(&self) -> Vec<(u64, Open)> {
        let mut open: Vec<_> = self.used.iter().filter_map(|(&addr, &open)| Some((addr, open?))).collect();
        open.short_sort_by_key(|&(addr, _)| addr);
        open
    }

    fn alloc(&mut self, index: u32, event: Event) {
        let open = Open { born: index, size_bytes: event.size_bytes, stack: event.stack };
        let before = self.used.insert(event.addr, Some(open)).flatten();
        let is_before = |older: &Open| older.born < self.request.events.start && index < self.request.events.end;
        self.superseded.extend(before.filter(is_before).map(|older| (event.addr, older)));
    }

    fn free(&mut self, index: u32, event: Event) {
        let part = &self.request.events;
        match self.used.insert(event.addr, None).flatten() {
            Some(Open { born, size_bytes, stack }) if part.contains(&index) && born < part.start => {
                self.freed.push(FreedEarlier { event: index - part.start, size_bytes, stack });
            }
            None if index >= part.end => self.freed_later.push((event.addr, event.size_bytes)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(events: u64, peak_moment: u64) -> OverviewDevice {
        let trace = PreviewTrace { events, peak_moment, ..PreviewTrace::default() };
        OverviewDevice { index: 2, trace, first_live_bytes: 0 }
    }

    #[test]
    fn ranges_stay_within_the_trace() {
        assert_eq!(device(100, 50).last(30), 70..100);
        assert_eq!(device(100, 50).last(300), 0..100);
        assert_eq!(device(100, 50).around_peak(40), 20..60);
        assert_eq!(device(100, 95).around_peak(40), 60..100);
        assert_eq!(device(100, 3).around_peak(40), 0..40);
        assert_eq!(device(10, 3).around_peak(40), 0..10);
        assert_eq!(device(0, 0).around_peak(40), 0..0);
    }

    #[test]
    fn a_range_that_is_not_there_is_named() {
        let error = |events: Range<u64>| device(100, 0).part(events).unwrap_err();
        assert_eq!(error(5..5).message, "The range 5..5 contains no events");
        assert_eq!(error(90..101).message, "The range 90..101 ends after the last event of GPU 2");
        assert_eq!(error(90..101).hint, "GPU 2 has 100 events (0..100).");
        assert_eq!(device(100, 0).part(0..100).unwrap().events(), 0..100);
    }
}
