//! Keeps a part of one device's events while the whole file is read.
//!
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
//! Cost: the events of the part, and a map of all addresses in the trace.

use super::part::PartRequest;
use crate::trace::{Action, Event, EventTable, FreedEarlier, StackId};
use hashbrown::HashMap;

/// Live allocation whose `alloc` was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) born: u32,
    pub(super) size_bytes: u64,
    pub(super) stack: StackId,
}

/// State of a part while the file is read.
#[derive(Clone, Debug)]
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
        Self {
            request: request.clone(),
            used: HashMap::new(),
            at_end: None,
            superseded: Vec::new(),
            freed: Vec::new(),
            freed_later: Vec::new(),
            segments_later: Vec::new(),
        }
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
        open.sort_unstable_by_key(|&(addr, _)| addr);
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
