//! Collects dictionaries and lists into rows as the reader closes them.
//!
//! Lists of rows become ranges of the tables that hold them.

use super::forms;
use super::keys::{self, BLOCK, EVENT, FRAME, Fields, HISTORY_ENTRY, LIST, POOL, SEGMENT, STACK, *};
use super::oddities::Oddities;
use super::part::{Keeper, PartRequest};
use super::preview::Watch;
use crate::base::{StringId, StringTable};
use crate::pickle::{Build, Form, Heap, RECORD_VALUES, Val};
use crate::trace::{
    Block, BlockState, ContextId, ContextTable, EventContext, EventTable, FrameId, FrameTable, HistoryEntry, LinesId,
    PoolId, Segment, StackId, StackTable,
};
use hashbrown::HashMap;
use std::ops::Range;

/// Block before its segment is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawBlock {
    pub(super) addr: Option<u64>,
    pub(super) size_bytes: u64,
    pub(super) requested_bytes: Option<u64>,
    pub(super) state: BlockState,
    pub(super) stack: StackId,
    /// Number of a list of history entries.
    pub(super) history: Option<u32>,
}

impl RawBlock {
    /// Returns the block, which lies at `addr` unless the file has its address.
    pub(super) fn placed(self, addr: u64, history: (u32, u32)) -> Block {
        let Self { size_bytes, requested_bytes, state, stack, .. } = self;
        Block { addr: self.addr.unwrap_or(addr), size_bytes, requested_bytes, state, stack, history }
    }
}

/// Segment before its blocks are placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawSegment {
    pub(super) device: i64,
    /// Without what the other fields tell.
    pub(super) segment: Segment,
    pub(super) allocated_bytes: Option<u64>,
    pub(super) active_bytes: Option<u64>,
    pub(super) blocks: Option<u32>,
}

/// List of rows of one kind.
#[derive(Debug)]
pub(super) struct RowList {
    pub(super) kind: u8,
    pub(super) rows: Runs,
}

/// Collects every record of a snapshot into columns; made by a [`Plan`], with the keys among its strings.
#[derive(Debug, Default)]
pub(super) struct SnapshotBuilder {
    pub(super) strings: StringTable,
    pub(super) frames: FrameTable,
    pub(super) stacks: StackTable,
    pub(super) contexts: ContextTable,
    /// Events that are kept.
    pub(super) events: EventTable,
    /// Number of events read, kept or not.
    pub(super) event_rows: u32,
    /// Follows the events for a preview.
    pub(super) watch: Option<Box<Watch>>,
    /// True if only the preview is wanted: events, frames and stacks are not stored.
    pub(super) is_overview: bool,
    /// Decides which events are kept; without it, all of them are.
    pub(super) keeper: Option<Box<Keeper>>,
    pub(super) blocks: Vec<RawBlock>,
    pub(super) segments: Vec<RawSegment>,
    pub(super) history: Vec<HistoryEntry>,
    pub(super) lists: Vec<RowList>,
    pub(super) pools: Vec<PoolId>,
    pub(super) oddities: Oddities,
    /// Context of the last event, which nearly always is that of the next one as well.
    pub(super) last_context: Option<(EventContext, ContextId)>,
    /// Lists of lines by their node number in the heap.
    pub(super) known_lines: HashMap<u32, LinesId>,
    pub(super) stack_scratch: Vec<FrameId>,
    pub(super) fields: Fields,
    /// Last event that was not passed to [`Build::record`], if nothing is odd about it, and its context.
    pub(super) plain: Option<(Val, ContextId)>,
}

/// Data that is to be collected from a file.
#[derive(Clone, Debug, Default)]
pub(super) enum Plan {
    #[default]
    Whole,
    /// The whole trace, with a preview on the way.
    Watched,
    /// Only the preview; no event is kept.
    Overview,
    /// A part of one device's events.
    Part(PartRequest),
}

impl Plan {
    pub(super) fn builder(&self) -> SnapshotBuilder {
        let watch = matches!(self, Self::Watched | Self::Overview).then(Box::default);
        let keeper = match self {
            Self::Part(request) => Some(Box::new(Keeper::new(request))),
            _ => None,
        };
        let is_overview = matches!(self, Self::Overview);
        let strings = keys::string_table();
        SnapshotBuilder { strings, watch, is_overview, keeper, ..SnapshotBuilder::default() }
    }
}

const IS_FRAME: u64 = bits([NAME, FILENAME]);
const IS_SEGMENT: u64 = bits([TOTAL_SIZE, BLOCKS]);
const IS_BLOCK: u64 = bits([SIZE, STATE]);

impl Build for SnapshotBuilder {
    #[inline]
    fn intern(&mut self, text: &str) -> StringId {
        self.strings.intern(text)
    }

    #[inline]
    fn dict(&mut self, entries: &[Val], heap: &Heap) -> Option<Val> {
        self.read_fields(entries);
        let fields = &self.fields;
        match () {
            () if fields.has(ACTION) => self.event(entries, heap),
            () if fields.has_all(IS_FRAME) => Some(self.frame(entries, heap)),
            () if fields.has_all(IS_SEGMENT) => Some(self.segment(entries, heap)),
            () if fields.has_all(IS_BLOCK) => Some(self.block(entries, heap)),
            () if fields.has(REAL_SIZE) => Some(self.history_entry(entries, heap)),
            () => None,
        }
    }

    #[inline]
    fn form(&mut self, val: Val, entries: &[Val]) -> Option<Form> {
        let (_, context) = self.plain.take().filter(|(event, _)| *event == val)?;
        forms::form(entries, self.fields.present, context)
    }

    #[inline]
    fn record(&mut self, tag: u32, values: &[Val; RECORD_VALUES]) -> Option<Val> {
        let event = forms::plain_event(values, ContextId::from_index(tag as usize))?;
        Some(self.push_event(event))
    }

    fn list(&mut self, items: &[Val], _heap: &Heap) -> Option<Val> {
        let Some((kind, _)) = items[0].as_handle() else { return self.pool_list(items) };
        match kind {
            FRAME => self.stack(items),
            EVENT | BLOCK | SEGMENT | HISTORY_ENTRY => {
                let mut rows = Runs::default();
                push_rows(&mut rows, kind, items).then(|| {
                    if kind == EVENT
                        && let Some(watch) = &mut self.watch
                    {
                        watch.list(self.lists.len() as u32, rows.ranges());
                    }
                    self.lists.push(RowList { kind, rows });
                    Val::handle(LIST, (self.lists.len() - 1) as u32)
                })
            }
            _ => None,
        }
    }

    fn extend(&mut self, list: Val, items: &[Val]) -> bool {
        let Some((LIST, number)) = list.as_handle() else { return false };
        let RowList { kind, rows } = &mut self.lists[number as usize];
        // All or nothing, because the machine falls back to a copy.
        let is_extended = items.iter().all(|item| matches!(item.as_handle(), Some((found, _)) if found == *kind))
            && push_rows(rows, *kind, items);
        if is_extended
            && *kind == EVENT
            && let Some(watch) = &mut self.watch
        {
            watch.extend(number, rows.ranges());
        }
        is_extended
    }

    fn len(&self, list: Val) -> Option<usize> {
        match list.as_handle()? {
            (STACK, number) => Some(self.stacks.frames(StackId::from_index(number as usize)).len()),
            (LIST, number) => Some(self.lists[number as usize].rows.len()),
            (POOL, _) => Some(2),
            _ => None,
        }
    }

    fn expand(&self, list: Val, items: &mut Vec<Val>) {
        match list.as_handle() {
            Some((STACK, number)) => {
                let frames = self.stacks.frames(StackId::from_index(number as usize));
                items.extend(frames.iter().map(|frame| Val::handle(FRAME, frame.index() as u32)));
            }
            Some((LIST, number)) => {
                let RowList { kind, rows } = &self.lists[number as usize];
                items.extend(rows.rows().map(|row| Val::handle(*kind, row)));
            }
            Some((POOL, number)) => {
                let PoolId(a, b) = self.pools[number as usize];
                items.extend([Val::small(a), Val::small(b)]);
            }
            _ => (),
        }
    }

    fn mended_text(&mut self, offset: u64) {
        self.oddities.mended_text(offset);
    }
}

/// Appends row numbers of one kind; stops at the first other item and returns false.
fn push_rows(rows: &mut Runs, kind: u8, items: &[Val]) -> bool {
    items.iter().all(|item| match item.as_handle() {
        Some((found, number)) if found == kind => {
            rows.push(number);
            true
        }
        _ => false,
    })
}

/// Row numbers in the order of a list; a list without other rows in between is a single range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs(Vec<Range<u32>>);

impl Runs {
    pub(super) fn push(&mut self, row: u32) {
        match self.0.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => self.0.push(row..row + 1),
        }
    }

    pub(super) fn ranges(&self) -> &[Range<u32>] {
        &self.0
    }

    /// Returns the number of rows, in time linear in the number of ranges.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(Range::len).sum()
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().cloned().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_join() {
        let mut runs = Runs::default();
        [4, 5, 6, 2, 3, 3].into_iter().for_each(|row| runs.push(row));
        assert_eq!(runs.ranges(), [4..7, 2..4, 3..4]);
        assert!(runs.rows().eq([4, 5, 6, 2, 3, 3]));
    }
}
