//! Limits the rows of a snapshot, with each list counted as often as it is used.
//!
//! A list of rows is written once and may be referred to in two bytes, but each device's table contains all of its
//! rows.
//! PyTorch writes each list once, so that there are never more rows than bytes; more rows are refused before any is
//! copied.

use super::build::{RawSegment, SnapshotBuilder};
use super::error::{HINT_LIMIT, ImportError, MOST_DEVICES, OVER_A_LIMIT, too_many_devices};
use crate::base::format;
use crate::trace::SegmentTable;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::iter::Sum;

/// Lower bound on the bytes of a row; an event with one key is `}(h.h.u`, a dot being a byte.
const LEAST_ROW_BYTES: u64 = 4;
/// Number of rows allowed in a file of any size.
const FREE_ROWS: u64 = 4096;

/// Numbers of rows in a device's tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Room {
    segments: usize,
    blocks: usize,
    history: usize,
}

impl Room {
    pub(super) fn table(self) -> SegmentTable {
        SegmentTable {
            segments: Vec::with_capacity(self.segments),
            blocks: Vec::with_capacity(self.blocks),
            history: Vec::with_capacity(self.history),
        }
    }
}

impl Sum for Room {
    fn sum<I: Iterator<Item = Self>>(rooms: I) -> Self {
        rooms.fold(Self::default(), |sum, room| Self {
            segments: sum.segments + room.segments,
            blocks: sum.blocks + room.blocks,
            history: sum.history + room.history,
        })
    }
}

/// Counts down the rows that the bytes of a file allow.
#[derive(Debug)]
pub(super) struct RowBudget<'a> {
    builder: &'a SnapshotBuilder,
    bytes: u64,
    limit: u64,
    left: u64,
    /// Rows of each list that was counted, and for lists of blocks the rows of their histories.
    known: HashMap<u32, (u64, u64)>,
}

impl<'a> RowBudget<'a> {
    pub(super) fn new(builder: &'a SnapshotBuilder, bytes: u64) -> Self {
        let limit = FREE_ROWS + bytes / LEAST_ROW_BYTES;
        Self { builder, bytes, limit, left: limit, known: HashMap::new() }
    }

    /// Takes the events of all devices from the budget; too many are an error.
    pub(super) fn take_events(&mut self, lists: impl IntoIterator<Item = Option<u32>>) -> Result<(), ImportError> {
        for list in lists.into_iter().flatten() {
            let rows = self.rows(list);
            self.take(rows, "events of \"device_traces\"")?;
        }
        Ok(())
    }

    /// Takes segments with their blocks and histories, and returns the rows of each device; too many are an error.
    pub(super) fn take_segments(
        &mut self,
        segments: impl Iterator<Item = RawSegment>,
    ) -> Result<BTreeMap<i64, Room>, ImportError> {
        let mut rooms = BTreeMap::<i64, Room>::new();
        for segment in segments {
            let (blocks, history) = segment.blocks.map_or((0, 0), |list| self.blocks(list));
            self.take(1, "segments")?;
            self.take(blocks, "blocks of \"segments\"")?;
            self.take(history, "history entries of \"segments\"")?;
            let room = rooms.entry(segment.device).or_default();
            room.segments += 1;
            room.blocks += blocks as usize;
            room.history += history as usize;
            if rooms.len() > MOST_DEVICES {
                return Err(too_many_devices());
            }
        }
        Ok(rooms)
    }

    fn take(&mut self, rows: u64, what: &str) -> Result<(), ImportError> {
        let too_many = || {
            let (limit, bytes) = (format::count(self.limit), format::count(self.bytes));
            let message = format!("The file has more than {limit} rows in {bytes} bytes, because lists share {what}");
            ImportError::new(OVER_A_LIMIT, message, HINT_LIMIT)
        };
        self.left = self.left.checked_sub(rows).ok_or_else(too_many)?;
        Ok(())
    }

    fn rows(&mut self, list: u32) -> u64 {
        let count = || (self.builder.lists[list as usize].rows.len() as u64, 0);
        self.known.entry(list).or_insert_with(count).0
    }

    /// Returns the length of a list of blocks, and the number of entries in their histories.
    fn blocks(&mut self, list: u32) -> (u64, u64) {
        if let Some(&known) = self.known.get(&list) {
            return known;
        }
        let (mut blocks, mut history) = (0, 0);
        for row in self.builder.lists[list as usize].rows.rows() {
            blocks += 1;
            history += self.builder.blocks[row as usize].history.map_or(0, |entries| self.rows(entries));
        }
        self.known.insert(list, (blocks, history));
        (blocks, history)
    }
}
