//! Converts dictionaries to events, frames, segments, blocks and history entries.
//!
//! A field of the current dictionary whose value has the wrong type counts as malformed and as absent.

use super::build::{RawBlock, RawSegment, SnapshotBuilder};
use super::forms::{CONTEXT_KEYS, OWN_KEYS};
use super::keys::{self, BLOCK, EVENT, FRAME, FRAMES, HISTORY_ENTRY, LIST, POOL, SEGMENT, STACK, *};
use super::oddities::Record;
use crate::base::StringId;
use crate::pickle::{Heap, Kind, Val};
use crate::trace::{
    Action, BlockState, ContextId, Event, EventContext, Frame, FrameId, FxNode, HistoryEntry, LinesId, PoolId, Segment,
    SegmentType, StackId,
};

const EVENT_KEYS: u64 = OWN_KEYS | CONTEXT_KEYS | bits([DEVICE_FREE, SEGMENT_POOL_ID]);
const FX_KEYS: u64 = bits([FX_NODE_OP, FX_NODE_NAME, FX_NODE_TARGET, FX_ORIGINAL_TRACE]);
const FRAME_KEYS: u64 = FX_KEYS | bits([NAME, FILENAME, LINE]);
const SEGMENT_SIZES: u64 = bits([TOTAL_SIZE, ALLOCATED_SIZE, ACTIVE_SIZE, REQUESTED_SIZE]);
const SEGMENT_KEYS: u64 =
    SEGMENT_SIZES | bits([DEVICE, ADDRESS, STREAM, SEGMENT_TYPE, SEGMENT_POOL_ID, IS_EXPANDABLE, FRAMES, BLOCKS]);
const BLOCK_KEYS: u64 = bits([ADDRESS, ADDR, SIZE, REQUESTED_SIZE, STATE, FRAMES, HISTORY]);
const HISTORY_KEYS: u64 = bits([ADDR, REAL_SIZE, FRAMES]);

impl SnapshotBuilder {
    #[inline]
    pub(super) fn read_fields(&mut self, entries: &[Val]) {
        self.fields.present = 0;
        for pair in entries.chunks_exact(2) {
            if let Some(key) = pair[0].as_str().map(StringId::index).filter(|&key| key < KEY_COUNT) {
                self.fields.present |= bit(key);
                self.fields.values[key] = pair[1];
            }
        }
    }

    /// Counts keys that are not in `known`.
    #[inline]
    fn note_unknown(&mut self, record: Record, known: u64, entries: &[Val]) {
        if self.fields.present & !known == 0 && self.fields.present.count_ones() as usize * 2 == entries.len() {
            return;
        }
        for pair in entries.chunks_exact(2) {
            let key = pair[0].as_str().unwrap_or(StringId::EMPTY);
            if key.index() >= KEY_COUNT || known & bit(key.index()) == 0 {
                self.oddities.unknown_key(record, key);
            }
        }
    }

    pub(super) fn event(&mut self, entries: &[Val], heap: &Heap) -> Option<Val> {
        let odd = self.oddities.noted();
        let event = self.read_event(entries, heap)?;
        let has_each_key_once = self.fields.present.count_ones() as usize * 2 == entries.len();
        let is_plain = has_each_key_once && self.oddities.noted() == odd;
        let context = event.context;
        let val = self.push_event(event);
        self.plain = is_plain.then_some((val, context));
        Some(val)
    }

    fn action(&mut self) -> Option<Action> {
        let name = self.fields.values[ACTION].as_str()?;
        Some(keys::action(name).unwrap_or_else(|| {
            self.oddities.unknown_action(name);
            Action::Unknown
        }))
    }

    fn read_event(&mut self, entries: &[Val], heap: &Heap) -> Option<Event> {
        let action = self.action()?;
        let addr_key = if action == Action::Oom && self.fields.has(DEVICE_FREE) { DEVICE_FREE } else { ADDR };
        let event = Event {
            action,
            addr: self.number(Record::Event, addr_key, heap).unwrap_or(0),
            size_bytes: self.size(Record::Event, SIZE, heap).unwrap_or(0),
            time_us: self.signed(Record::Event, TIME_US, heap).unwrap_or(0),
            stack: self.stack_of(Record::Event),
            context: self.context(heap),
        };
        self.note_unknown(Record::Event, EVENT_KEYS, entries);
        Some(event)
    }

    #[inline]
    pub(super) fn push_event(&mut self, event: Event) -> Val {
        let row = self.event_rows;
        self.event_rows = row.checked_add(1).expect("fewer than 2^32 events");
        if let Some(watch) = &mut self.watch {
            watch.event(row, event.action, event.size_bytes);
        }
        match &mut self.keeper {
            _ if self.is_overview => {}
            None => self.events.push(event),
            Some(keeper) => keeper.event(row, event, &mut self.events),
        }
        Val::handle(EVENT, row)
    }

    #[inline]
    fn context(&mut self, heap: &Heap) -> ContextId {
        let pool_key = if self.fields.has(POOL_ID) { POOL_ID } else { SEGMENT_POOL_ID };
        let context = EventContext {
            stream: self.number(Record::Event, STREAM, heap).unwrap_or(0),
            pool: self.pool(Record::Event, pool_key, heap),
            compile_context: self.text(Record::Event, COMPILE_CONTEXT),
            user_metadata: self.text(Record::Event, USER_METADATA),
            internal_metadata: self.text(Record::Event, INTERNAL_METADATA),
            category: self.text(Record::Event, CATEGORY),
            forward_frames: self.lines(FORWARD_FRAMES, heap),
        };
        if let Some((last, id)) = self.last_context
            && last == context
        {
            return id;
        }
        let id = self.contexts.intern(context);
        self.last_context = Some((context, id));
        id
    }

    pub(super) fn frame(&mut self, entries: &[Val], heap: &Heap) -> Val {
        if self.is_overview {
            return Val::handle(FRAME, 0);
        }
        let fx = (self.fields.present & FX_KEYS != 0).then(|| FxNode {
            op: self.text(Record::Frame, FX_NODE_OP),
            name: self.text(Record::Frame, FX_NODE_NAME),
            target: self.text(Record::Frame, FX_NODE_TARGET),
            original_trace: self.text(Record::Frame, FX_ORIGINAL_TRACE),
        });
        let frame = Frame {
            name: self.text(Record::Frame, NAME),
            filename: self.text(Record::Frame, FILENAME),
            line: self.number(Record::Frame, LINE, heap).unwrap_or(0),
            fx,
        };
        self.note_unknown(Record::Frame, FRAME_KEYS, entries);
        Val::handle(FRAME, self.frames.intern(frame).index() as u32)
    }

    pub(super) fn stack(&mut self, items: &[Val]) -> Option<Val> {
        if self.is_overview && items.iter().all(|item| matches!(item.as_handle(), Some((FRAME, _)))) {
            return Some(Val::handle(STACK, StackId::EMPTY.index() as u32));
        }
        self.stack_scratch.clear();
        for item in items {
            let Some((FRAME, number)) = item.as_handle() else { return None };
            self.stack_scratch.push(FrameId::from_index(number as usize));
        }
        Some(Val::handle(STACK, self.stacks.intern(&self.stack_scratch).index() as u32))
    }

    /// Reads a pool id written as a list: PyTorch's dumps have tuples, JSON has lists.
    pub(super) fn pool_list(&mut self, items: &[Val]) -> Option<Val> {
        let [first, second] = items else { return None };
        let number = |val: &Val| val.as_small_int().and_then(|value| u64::try_from(value).ok());
        let pool = PoolId(number(first)?, number(second)?);
        let known = self.pools.iter().rev().take(8).position(|&known| known == pool);
        let index = known.map_or(self.pools.len(), |back| self.pools.len() - 1 - back);
        if known.is_none() {
            self.pools.push(pool);
        }
        Some(Val::handle(POOL, index as u32))
    }

    pub(super) fn segment(&mut self, entries: &[Val], heap: &Heap) -> Val {
        let type_name = self.text(Record::Segment, SEGMENT_TYPE);
        let segment = Segment {
            addr: self.number(Record::Segment, ADDRESS, heap).unwrap_or(0),
            size_bytes: self.size(Record::Segment, TOTAL_SIZE, heap).unwrap_or(0),
            requested_bytes: self.size(Record::Segment, REQUESTED_SIZE, heap),
            stream: self.number(Record::Segment, STREAM, heap).unwrap_or(0),
            segment_type: SegmentType::of_name(self.strings.get(type_name)).unwrap_or_default(),
            pool: self.pool(Record::Segment, SEGMENT_POOL_ID, heap),
            is_expandable: self.flag(Record::Segment, IS_EXPANDABLE),
            stack: self.stack_of(Record::Segment),
            ..Segment::default()
        };
        let segment = RawSegment {
            device: self.signed(Record::Segment, DEVICE, heap).unwrap_or(0),
            segment,
            allocated_bytes: self.size(Record::Segment, ALLOCATED_SIZE, heap),
            active_bytes: self.size(Record::Segment, ACTIVE_SIZE, heap),
            blocks: self.row_list(Record::Segment, BLOCKS, BLOCK),
        };
        self.segments.push(segment);
        self.note_unknown(Record::Segment, SEGMENT_KEYS, entries);
        Val::handle(SEGMENT, (self.segments.len() - 1) as u32)
    }

    pub(super) fn block(&mut self, entries: &[Val], heap: &Heap) -> Val {
        let addr_key = if self.fields.has(ADDRESS) { ADDRESS } else { ADDR };
        let state = self.text(Record::Block, STATE);
        let block = RawBlock {
            addr: self.number(Record::Block, addr_key, heap),
            size_bytes: self.size(Record::Block, SIZE, heap).unwrap_or(0),
            requested_bytes: self.size(Record::Block, REQUESTED_SIZE, heap),
            state: match self.strings.get(state) {
                // PyTorch's documentation calls it so.
                "active_awaiting_free" => BlockState::PendingFree,
                name => BlockState::of_name(name).unwrap_or_else(|| {
                    self.oddities.malformed(Record::Block, STATE);
                    BlockState::Inactive
                }),
            },
            stack: self.stack_of(Record::Block),
            history: self.row_list(Record::Block, HISTORY, HISTORY_ENTRY),
        };
        self.blocks.push(block);
        self.note_unknown(Record::Block, BLOCK_KEYS, entries);
        Val::handle(BLOCK, (self.blocks.len() - 1) as u32)
    }

    pub(super) fn history_entry(&mut self, entries: &[Val], heap: &Heap) -> Val {
        let entry = HistoryEntry {
            addr: self.number(Record::History, ADDR, heap).unwrap_or(0),
            requested_bytes: self.size(Record::History, REAL_SIZE, heap).unwrap_or(0),
            stack: self.stack_of(Record::History),
        };
        self.history.push(entry);
        self.note_unknown(Record::History, HISTORY_KEYS, entries);
        Val::handle(HISTORY_ENTRY, (self.history.len() - 1) as u32)
    }
}

impl SnapshotBuilder {
    #[inline]
    fn field<T>(&mut self, record: Record, key: usize, read: impl FnOnce(&Self, Val) -> Option<T>) -> Option<T> {
        let val = self.fields.get(key)?;
        let value = read(self, val);
        if value.is_none() && !matches!(val.kind(), Kind::None) {
            self.oddities.malformed(record, key);
        }
        value
    }

    #[inline]
    pub(super) fn number(&mut self, record: Record, key: usize, heap: &Heap) -> Option<u64> {
        self.field(record, key, |_, val| match val.as_small_int() {
            Some(value) => Some(value as u64),
            None => heap.as_u64(val),
        })
    }

    /// Reads a number of bytes, which must be below 2^60 as in PyTorch.
    #[inline]
    pub(super) fn size(&mut self, record: Record, key: usize, heap: &Heap) -> Option<u64> {
        const LIMIT: i64 = 1 << 60;
        self.field(record, key, |_, val| {
            let value = val.as_small_int().or_else(|| heap.as_i64(val))?;
            (0..LIMIT).contains(&value).then_some(value as u64)
        })
    }

    #[inline]
    pub(super) fn signed(&mut self, record: Record, key: usize, heap: &Heap) -> Option<i64> {
        self.field(record, key, |_, val| val.as_small_int().or_else(|| heap.as_i64(val)))
    }

    pub(super) fn flag(&mut self, record: Record, key: usize) -> Option<bool> {
        self.field(record, key, |_, val| match val.kind() {
            Kind::Bool(value) => Some(value),
            _ => None,
        })
    }

    #[inline]
    pub(super) fn text(&mut self, record: Record, key: usize) -> StringId {
        self.field(record, key, |_, val| val.as_str()).unwrap_or(StringId::EMPTY)
    }

    #[inline]
    pub(super) fn pool(&mut self, record: Record, key: usize, heap: &Heap) -> Option<PoolId> {
        self.field(record, key, |builder, val| match val.kind() {
            Kind::Pair(a, b) => Some(PoolId(u64::from(a), u64::from(b))),
            Kind::Handle(POOL, index) => Some(builder.pools[index as usize]),
            _ => match *heap.items(val)? {
                [a, b] => Some(PoolId(heap.as_u64(a)?, heap.as_u64(b)?)),
                _ => None,
            },
        })
    }

    #[inline]
    pub(super) fn stack_of(&mut self, record: Record) -> StackId {
        let stack = self.field(record, FRAMES, |_, val| match val.kind() {
            Kind::Handle(STACK, number) => Some(StackId::from_index(number as usize)),
            Kind::EmptyList | Kind::EmptyTuple => Some(StackId::EMPTY),
            _ => None,
        });
        stack.unwrap_or(StackId::NONE)
    }

    pub(super) fn row_list(&mut self, record: Record, key: usize, kind: u8) -> Option<u32> {
        let list = self.field(record, key, |builder, val| match val.kind() {
            Kind::Handle(LIST, number) if builder.lists[number as usize].kind == kind => Some(Some(number)),
            Kind::EmptyList | Kind::EmptyTuple => Some(None),
            _ => None,
        });
        list.flatten()
    }

    /// Reads a list of strings.
    #[inline]
    pub(super) fn lines(&mut self, key: usize, heap: &Heap) -> LinesId {
        let Some(Kind::Node(number)) = self.fields.get(key).map(Val::kind) else { return LinesId::EMPTY };
        if let Some(&known) = self.known_lines.get(&number) {
            return known;
        }
        let lines = self.field(Record::Event, key, |_, val| {
            heap.items(val)?.iter().map(|line| line.as_str()).collect::<Option<Vec<StringId>>>()
        });
        let id = lines.map_or(LinesId::EMPTY, |lines| self.contexts.intern_lines(&lines));
        self.known_lines.insert(number, id);
        id
    }
}
