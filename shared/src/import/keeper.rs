//! Keeps a part of one device's events while the whole file passes by.
//!
//! The allocations that are open are followed from the first event of the device to its last one, so that the part
//! begins and ends with what was alive then:
//!
//! ```text
//! events   0 alloc a   1 alloc b │ 2 alloc c   3 free a │ 4 free x   5 free c
//! part                           │    2..4              │
//! older    b, and x, which is freed later without an alloc
//! freed    a, by event 1 of the part
//! ```
//!
//! Cost: a map of the addresses that the trace uses, beside the events of the part.

use super::part::PartRequest;
use crate::trace::{Action, Event, EventTable, FreedEarlier, StackId};
use hashbrown::HashMap;

/// An allocation whose `alloc` was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) born: u32,
    pub(super) size_bytes: u64,
    pub(super) stack: StackId,
}

/// The state of a part while the file is read.
#[derive(Clone, Debug)]
pub(super) struct Keeper {
    pub(super) request: PartRequest,
    /// By address what is open there, `None` where the last one was freed.
    pub(super) used: HashMap<u64, Option<Open>>,
    /// What was open at the end of the part, once more events have come.
    pub(super) at_end: Option<Vec<(u64, Open)>>,
    /// From before the part, at an address that another one took within it without a free between.
    pub(super) superseded: Vec<(u64, Open)>,
    pub(super) freed: Vec<FreedEarlier>,
    /// Freed behind the part without an `alloc`: address and size.
    pub(super) freed_later: Vec<(u64, u64)>,
    /// The segment events behind the part.
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

    /// Takes the next event of the file; those of the part go to `kept`.
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

    /// What is open now, by address.
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
