//! Dictionaries and lists to rows, as the reader closes them.

use super::keys::{self, *};
use super::oddities::{Oddities, Record};
use super::runs::Runs;
use crate::base::{StringId, StringTable};
use crate::pickle::{Build, Heap, Kind, Val};
use crate::trace::{
    Action, BlockState, ContextId, ContextTable, Event, EventContext, EventTable, Frame, FrameId, FrameTable, FxNode,
    PoolId, SegmentType, StackId, StackTable,
};
use hashbrown::HashMap;

// Kinds of handles. The memo packs kinds up to 8.
pub(super) const FRAME: u8 = 0;
pub(super) const STACK: u8 = 1;
pub(super) const EVENT: u8 = 2;
pub(super) const BLOCK: u8 = 3;
pub(super) const SEGMENT: u8 = 4;
pub(super) const HISTORY_ENTRY: u8 = 5;
/// A list of rows of one kind.
pub(super) const LIST: u8 = 6;
/// A pair of numbers, written as a list.
pub(super) const POOL: u8 = 7;

/// A block before its segment is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawBlock {
    pub(super) addr: Option<u64>,
    pub(super) size_bytes: u64,
    pub(super) requested_bytes: Option<u64>,
    pub(super) state: BlockState,
    pub(super) stack: StackId,
    /// A list of history entries.
    pub(super) history: Option<u32>,
}

/// A segment before its blocks are placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawSegment {
    pub(super) device: i64,
    pub(super) addr: u64,
    pub(super) size_bytes: u64,
    pub(super) allocated_bytes: Option<u64>,
    pub(super) active_bytes: Option<u64>,
    pub(super) requested_bytes: Option<u64>,
    pub(super) stream: u64,
    pub(super) segment_type: SegmentType,
    pub(super) pool: Option<PoolId>,
    pub(super) is_expandable: Option<bool>,
    pub(super) stack: StackId,
    /// A list of blocks.
    pub(super) blocks: Option<u32>,
}

/// An entry of a block's history.
pub(super) type RawHistory = crate::trace::HistoryEntry;

/// A list of rows of one kind.
#[derive(Debug)]
pub(super) struct RowList {
    pub(super) kind: u8,
    pub(super) rows: Runs,
}

/// Takes every record of a snapshot into columns.
#[derive(Debug)]
pub(super) struct SnapshotBuilder {
    pub(super) strings: StringTable,
    pub(super) frames: FrameTable,
    pub(super) stacks: StackTable,
    pub(super) contexts: ContextTable,
    pub(super) events: EventTable,
    pub(super) blocks: Vec<RawBlock>,
    pub(super) segments: Vec<RawSegment>,
    pub(super) history: Vec<RawHistory>,
    pub(super) lists: Vec<RowList>,
    pub(super) pools: Vec<PoolId>,
    pub(super) oddities: Oddities,
    /// The context of the last event; nearly always that of the next one, too.
    last_context: Option<(EventContext, ContextId)>,
    /// Lists of lines that were joined before, by their number in the heap.
    joined_lines: HashMap<u32, StringId>,
    stack_scratch: Vec<FrameId>,
    fields: Fields,
}

/// The values of one dictionary by key.
#[derive(Clone, Copy, Debug)]
struct Fields {
    present: u64,
    values: [Val; KEY_COUNT],
}

impl Fields {
    #[inline]
    fn has(&self, key: usize) -> bool {
        self.present & bit(key) != 0
    }

    #[inline]
    fn has_all(&self, keys: u64) -> bool {
        self.present & keys == keys
    }

    #[inline]
    fn get(&self, key: usize) -> Option<Val> {
        self.has(key).then(|| self.values[key])
    }
}

const IS_FRAME: u64 = bits([NAME, FILENAME]);
const IS_SEGMENT: u64 = bits([TOTAL_SIZE, BLOCKS]);
const IS_BLOCK: u64 = bits([SIZE, STATE]);
const EVENT_KEYS: u64 = bits([
    ACTION,
    ADDR,
    DEVICE_FREE,
    SIZE,
    STREAM,
    TIME_US,
    COMPILE_CONTEXT,
    USER_METADATA,
    POOL_ID,
    INTERNAL_METADATA,
    FRAMES,
    FORWARD_FRAMES,
    CATEGORY,
    SEGMENT_POOL_ID,
]);
const FRAME_KEYS: u64 = bits([NAME, FILENAME, LINE, FX_NODE_OP, FX_NODE_NAME, FX_NODE_TARGET, FX_ORIGINAL_TRACE]);
const SEGMENT_KEYS: u64 = bits([
    DEVICE,
    ADDRESS,
    TOTAL_SIZE,
    ALLOCATED_SIZE,
    ACTIVE_SIZE,
    REQUESTED_SIZE,
    STREAM,
    SEGMENT_TYPE,
    SEGMENT_POOL_ID,
    IS_EXPANDABLE,
    FRAMES,
    BLOCKS,
]);
const BLOCK_KEYS: u64 = bits([ADDRESS, ADDR, SIZE, REQUESTED_SIZE, STATE, FRAMES, HISTORY]);
const HISTORY_KEYS: u64 = bits([ADDR, REAL_SIZE, FRAMES]);

impl Default for SnapshotBuilder {
    fn default() -> Self {
        Self {
            strings: keys::string_table(),
            frames: FrameTable::default(),
            stacks: StackTable::default(),
            contexts: ContextTable::default(),
            events: EventTable::default(),
            blocks: Vec::new(),
            segments: Vec::new(),
            history: Vec::new(),
            lists: Vec::new(),
            pools: Vec::new(),
            oddities: Oddities::default(),
            last_context: None,
            joined_lines: HashMap::new(),
            stack_scratch: Vec::new(),
            fields: Fields { present: 0, values: [Val::handle(0, 0); KEY_COUNT] },
        }
    }
}

impl Build for SnapshotBuilder {
    #[inline]
    fn intern(&mut self, text: &str) -> StringId {
        self.strings.intern(text)
    }

    #[inline]
    fn dict(&mut self, entries: &[Val], heap: &Heap) -> Option<Val> {
        self.read_fields(entries);
        let fields = &self.fields;
        if fields.has(ACTION) {
            self.event(entries, heap)
        } else if fields.has_all(IS_FRAME) {
            Some(self.frame(entries, heap))
        } else if fields.has_all(IS_SEGMENT) {
            Some(self.segment(entries, heap))
        } else if fields.has_all(IS_BLOCK) {
            Some(self.block(entries, heap))
        } else if fields.has(REAL_SIZE) {
            Some(self.history_entry(entries, heap))
        } else {
            None
        }
    }

    fn list(&mut self, items: &[Val], _heap: &Heap) -> Option<Val> {
        let Some((kind, _)) = items[0].as_handle() else { return self.pool_list(items) };
        match kind {
            FRAME => self.stack(items),
            EVENT | BLOCK | SEGMENT | HISTORY_ENTRY => {
                let mut rows = Runs::default();
                push_rows(&mut rows, kind, items).then(|| {
                    self.lists.push(RowList { kind, rows });
                    Val::handle(LIST, (self.lists.len() - 1) as u32)
                })
            }
            _ => None,
        }
    }

    fn extend(&mut self, list: Val, items: &[Val]) -> bool {
        match list.as_handle() {
            Some((LIST, number)) => {
                let RowList { kind, rows } = &mut self.lists[number as usize];
                // All or nothing, because the machine falls back to `expand`.
                items.iter().all(|item| matches!(item.as_handle(), Some((found, _)) if found == *kind))
                    && push_rows(rows, *kind, items)
            }
            _ => false,
        }
    }

    fn expand(&self, list: Val) -> Option<Vec<Val>> {
        match list.as_handle()? {
            (STACK, number) => {
                let frames = self.stacks.frames(StackId::from_index(number as usize));
                Some(frames.iter().map(|frame| Val::handle(FRAME, frame.index() as u32)).collect())
            }
            (LIST, number) => {
                let RowList { kind, rows } = &self.lists[number as usize];
                Some(rows.rows().map(|row| Val::handle(*kind, row)).collect())
            }
            (POOL, number) => {
                let PoolId(a, b) = self.pools[number as usize];
                Some(vec![Val::small(a), Val::small(b)])
            }
            _ => None,
        }
    }

    fn mended_text(&mut self, offset: u64) {
        self.oddities.mended_text(offset);
    }
}

/// Adds the numbers of rows of one kind, or stops at the first item that is none.
fn push_rows(rows: &mut Runs, kind: u8, items: &[Val]) -> bool {
    items.iter().all(|item| match item.as_handle() {
        Some((found, number)) if found == kind => {
            rows.push(number);
            true
        }
        _ => false,
    })
}

impl SnapshotBuilder {
    #[inline]
    fn read_fields(&mut self, entries: &[Val]) {
        self.fields.present = 0;
        for pair in entries.chunks_exact(2) {
            if let Some(key) = pair[0].as_str().map(StringId::index).filter(|&key| key < KEY_COUNT) {
                self.fields.present |= bit(key);
                self.fields.values[key] = pair[1];
            }
        }
    }

    /// Counts keys that are none of `known`.
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

    fn event(&mut self, entries: &[Val], heap: &Heap) -> Option<Val> {
        let name = self.fields.values[ACTION].as_str()?;
        let action = keys::action(name).unwrap_or_else(|| {
            self.oddities.unknown_action(name);
            Action::Unknown
        });
        let row = u32::try_from(self.events.len()).expect("fewer than 2^32 events");
        let addr_key = if action == Action::Oom && self.fields.has(DEVICE_FREE) { DEVICE_FREE } else { ADDR };
        let event = Event {
            action,
            addr: self.number(Record::Event, addr_key, heap).unwrap_or(0),
            size_bytes: self.size(Record::Event, SIZE, heap).unwrap_or(0),
            time_us: self.signed(Record::Event, TIME_US, heap).unwrap_or(0),
            stack: self.stack_of(Record::Event),
            context: self.context(heap),
        };
        self.events.push(event);
        self.note_unknown(Record::Event, EVENT_KEYS, entries);
        Some(Val::handle(EVENT, row))
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
        match self.last_context {
            Some((last, id)) if last == context => id,
            _ => {
                let id = self.contexts.intern(context);
                self.last_context = Some((context, id));
                id
            }
        }
    }

    fn frame(&mut self, entries: &[Val], heap: &Heap) -> Val {
        let fx_keys = bits([FX_NODE_OP, FX_NODE_NAME, FX_NODE_TARGET, FX_ORIGINAL_TRACE]);
        let fx = (self.fields.present & fx_keys != 0).then(|| FxNode {
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

    fn stack(&mut self, items: &[Val]) -> Option<Val> {
        self.stack_scratch.clear();
        for item in items {
            let Some((FRAME, number)) = item.as_handle() else { return None };
            self.stack_scratch.push(FrameId::from_index(number as usize));
        }
        Some(Val::handle(STACK, self.stacks.intern(&self.stack_scratch).index() as u32))
    }

    /// Pool ids are tuples in PyTorch's dumps and lists in JSON.
    fn pool_list(&mut self, items: &[Val]) -> Option<Val> {
        let [first, second] = items else { return None };
        let number = |val: &Val| val.as_small_int().and_then(|value| u64::try_from(value).ok());
        let pool = PoolId(number(first)?, number(second)?);
        let known = self.pools.iter().rev().take(8).position(|&known| known == pool);
        let index = match known {
            Some(back) => self.pools.len() - 1 - back,
            None => {
                self.pools.push(pool);
                self.pools.len() - 1
            }
        };
        Some(Val::handle(POOL, index as u32))
    }

    fn segment(&mut self, entries: &[Val], heap: &Heap) -> Val {
        let type_name = self.text(Record::Segment, SEGMENT_TYPE);
        let segment = RawSegment {
            device: self.signed(Record::Segment, DEVICE, heap).unwrap_or(0),
            addr: self.number(Record::Segment, ADDRESS, heap).unwrap_or(0),
            size_bytes: self.size(Record::Segment, TOTAL_SIZE, heap).unwrap_or(0),
            allocated_bytes: self.size(Record::Segment, ALLOCATED_SIZE, heap),
            active_bytes: self.size(Record::Segment, ACTIVE_SIZE, heap),
            requested_bytes: self.size(Record::Segment, REQUESTED_SIZE, heap),
            stream: self.number(Record::Segment, STREAM, heap).unwrap_or(0),
            segment_type: match self.strings.get(type_name) {
                "small" => SegmentType::Small,
                _ => SegmentType::Large,
            },
            pool: self.pool(Record::Segment, SEGMENT_POOL_ID, heap),
            is_expandable: self.flag(Record::Segment, IS_EXPANDABLE),
            stack: self.stack_of(Record::Segment),
            blocks: self.row_list(Record::Segment, BLOCKS, BLOCK),
        };
        self.segments.push(segment);
        self.note_unknown(Record::Segment, SEGMENT_KEYS, entries);
        Val::handle(SEGMENT, (self.segments.len() - 1) as u32)
    }

    fn block(&mut self, entries: &[Val], heap: &Heap) -> Val {
        let addr_key = if self.fields.has(ADDRESS) { ADDRESS } else { ADDR };
        let state = self.text(Record::Block, STATE);
        let block = RawBlock {
            addr: self.number(Record::Block, addr_key, heap),
            size_bytes: self.size(Record::Block, SIZE, heap).unwrap_or(0),
            requested_bytes: self.size(Record::Block, REQUESTED_SIZE, heap),
            state: match self.strings.get(state) {
                "active_allocated" => BlockState::Allocated,
                "inactive" => BlockState::Inactive,
                // PyTorch's documentation names it "active_awaiting_free".
                "active_pending_free" | "active_awaiting_free" => BlockState::PendingFree,
                _ => {
                    self.oddities.malformed(Record::Block, STATE);
                    BlockState::Inactive
                }
            },
            stack: self.stack_of(Record::Block),
            history: self.row_list(Record::Block, HISTORY, HISTORY_ENTRY),
        };
        self.blocks.push(block);
        self.note_unknown(Record::Block, BLOCK_KEYS, entries);
        Val::handle(BLOCK, (self.blocks.len() - 1) as u32)
    }

    fn history_entry(&mut self, entries: &[Val], heap: &Heap) -> Val {
        let entry = RawHistory {
            addr: self.number(Record::History, ADDR, heap).unwrap_or(0),
            requested_bytes: self.size(Record::History, REAL_SIZE, heap).unwrap_or(0),
            stack: self.stack_of(Record::History),
        };
        self.history.push(entry);
        self.note_unknown(Record::History, HISTORY_KEYS, entries);
        Val::handle(HISTORY_ENTRY, (self.history.len() - 1) as u32)
    }
}

/// One field of the dictionary at hand; a value of another kind counts as malformed and as absent.
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
    fn number(&mut self, record: Record, key: usize, heap: &Heap) -> Option<u64> {
        self.field(record, key, |_, val| match val.as_small_int() {
            Some(value) => Some(value as u64),
            None => heap.as_u64(val),
        })
    }

    /// A number of bytes, below 2^60 as in PyTorch.
    #[inline]
    fn size(&mut self, record: Record, key: usize, heap: &Heap) -> Option<u64> {
        const LIMIT: i64 = 1 << 60;
        self.field(record, key, |_, val| {
            let value = val.as_small_int().or_else(|| heap.as_i64(val))?;
            (0..LIMIT).contains(&value).then_some(value as u64)
        })
    }

    #[inline]
    fn signed(&mut self, record: Record, key: usize, heap: &Heap) -> Option<i64> {
        self.field(record, key, |_, val| val.as_small_int().or_else(|| heap.as_i64(val)))
    }

    fn flag(&mut self, record: Record, key: usize) -> Option<bool> {
        self.field(record, key, |_, val| match val.kind() {
            Kind::Bool(value) => Some(value),
            _ => None,
        })
    }

    #[inline]
    fn text(&mut self, record: Record, key: usize) -> StringId {
        self.field(record, key, |_, val| val.as_str()).unwrap_or(StringId::EMPTY)
    }

    #[inline]
    fn pool(&mut self, record: Record, key: usize, heap: &Heap) -> Option<PoolId> {
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
    fn stack_of(&mut self, record: Record) -> StackId {
        let stack = self.field(record, FRAMES, |_, val| match val.kind() {
            Kind::Handle(STACK, number) => Some(StackId::from_index(number as usize)),
            Kind::EmptyList | Kind::EmptyTuple => Some(StackId::EMPTY),
            _ => None,
        });
        stack.unwrap_or(StackId::NONE)
    }

    fn row_list(&mut self, record: Record, key: usize, kind: u8) -> Option<u32> {
        let list = self.field(record, key, |builder, val| match val.kind() {
            Kind::Handle(LIST, number) if builder.lists[number as usize].kind == kind => Some(Some(number)),
            Kind::EmptyList | Kind::EmptyTuple => Some(None),
            _ => None,
        });
        list.flatten()
    }

    /// A list of texts as one text of lines.
    #[inline]
    fn lines(&mut self, key: usize, heap: &Heap) -> StringId {
        if !self.fields.has(key) {
            return StringId::EMPTY;
        }
        let Some(Kind::Node(number)) = self.fields.get(key).map(Val::kind) else { return StringId::EMPTY };
        if let Some(&known) = self.joined_lines.get(&number) {
            return known;
        }
        let joined = self.field(Record::Event, key, |builder, val| {
            let lines = heap.items(val)?.iter();
            let lines: Option<Vec<&str>> = lines.map(|line| Some(builder.strings.get(line.as_str()?))).collect();
            lines.map(|lines| lines.join("\n"))
        });
        let text = joined.map_or(StringId::EMPTY, |text| self.strings.intern(&text));
        self.joined_lines.insert(number, text);
        text
    }
}
