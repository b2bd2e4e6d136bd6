//! Adds up memory by the lines of a program that allocated it.

use super::record::Amount;
use crate::base::{StringId, StringTable, frame_rules};
use hashbrown::HashMap;
use std::cmp::Reverse;

/// Line of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub function: StringId,
    pub file: StringId,
    /// Counted from 1; 0 if it is unknown.
    pub line: u32,
}

/// Innermost line of a stack, and the innermost one of the user's own code; `None` if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    pub innermost: Option<Place>,
    pub own: Option<Place>,
}

/// Memory that a line allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OriginMemory {
    pub origin: Origin,
    pub peak: Amount,
    /// What was not freed until the end.
    pub end: Amount,
    /// All allocations together.
    pub all: Amount,
}

/// Memory by line, that with the most at the peak first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    pub rows: Vec<OriginMemory>,
    texts: Vec<String>,
}

/// Sums by line.
#[derive(Debug, Default)]
pub(super) struct OriginSums(HashMap<Origin, OriginMemory>);

impl Place {
    /// Returns true if the line is of the user's own code.
    pub(super) fn is_own(&self, texts: &StringTable) -> bool {
        let frame = (texts.get(self.function), texts.get(self.file));
        frame_rules::innermost_own_position(std::iter::once(frame)).is_some()
    }
}

impl OriginSums {
    /// Adds memory at the peak, at the end and in all.
    pub(super) fn add(&mut self, origin: Origin, peak: Amount, end: Amount, all: Amount) {
        if [peak, end, all].iter().any(|amount| amount.count > 0) {
            let sum = self.0.entry(origin).or_insert(OriginMemory { origin, ..OriginMemory::default() });
            (sum.peak, sum.end, sum.all) = (sum.peak.and(peak), sum.end.and(end), sum.all.and(all));
        }
    }

    pub(super) fn finish(self, texts: &StringTable) -> Origins {
        let mut rows: Vec<OriginMemory> = self.0.into_values().collect();
        rows.sort_by_key(|row| (Reverse((row.peak.bytes, row.all.bytes, row.end.bytes)), row.origin));
        Origins { rows, texts: texts.ids().map(|id| texts.get(id).to_owned()).collect() }
    }
}

impl Origins {
    /// Returns the function and the file of a line.
    pub fn names(&self, place: &Place) -> (&str, &str) {
        let text = |id: StringId| self.texts.get(id.index()).map_or("", String::as_str);
        (text(place.function), text(place.file))
    }

    /// Returns the bytes that are allocated at the peak.
    pub fn peak_bytes(&self) -> u64 {
        self.rows.iter().map(|row| row.peak.bytes).fold(0, u64::saturating_add)
    }
}
