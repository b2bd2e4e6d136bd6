//! Stores the allocator events of one device in order, as columns, and each distinct combination of an event's stream,
//! pool and texts once.

use super::StackId;
use super::stack_table::{LineTable, LinesId};
use crate::base::{Column, PackedColumn, StringId, handle};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Action of the caching allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Action {
    /// The allocator handed out a block; the size is the requested one.
    Alloc,
    /// The user freed a block.
    FreeRequested,
    /// The block is back in its pool.
    #[default]
    FreeCompleted,
    /// The allocator got a segment from `cudaMalloc`.
    SegmentAlloc,
    /// The allocator returned a segment by `cudaFree`.
    SegmentFree,
    /// The allocator mapped pages into an expandable segment.
    SegmentMap,
    /// The allocator unmapped pages from an expandable segment.
    SegmentUnmap,
    /// A snapshot was taken; the size is the device's active bytes.
    Snapshot,
    /// An out-of-memory error was raised; the size is the rounded request, the address the device's free bytes.
    Oom,
    /// A tensor was annotated after its allocation (torch 2.14 on).
    Annotate,
    /// A mark that nightly builds of 2024 recorded.
    UserDefined,
    /// An action that this program does not know; a diagnostic names it.
    Unknown,
}

// The names in snapshot files.
crate::names!(Action {
    Alloc => "alloc",
    FreeRequested => "free_requested",
    FreeCompleted => "free_completed",
    SegmentAlloc => "segment_alloc",
    SegmentFree => "segment_free",
    SegmentMap => "segment_map",
    SegmentUnmap => "segment_unmap",
    Snapshot => "snapshot",
    Oom => "oom",
    Annotate => "annotate",
    UserDefined => "user_defined",
    Unknown => "unknown",
});

/// Row of an [`EventTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub action: Action,
    /// Device address; for `oom` the free bytes of the device.
    pub addr: u64,
    /// Size, as described at [`Action`].
    pub size_bytes: u64,
    /// Microseconds since the Unix epoch, 0 in a table without times.
    pub time_us: i64,
    /// Call stack, or [`StackId::NONE`] if none was recorded.
    pub stack: StackId,
    pub context: ContextId,
}

/// Events of one device, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventTable {
    action: Column<Action>,
    addr: PackedColumn<u64>,
    size_bytes: PackedColumn<u64>,
    /// Empty until an event has a time.
    time_us: PackedColumn<i64>,
    stack: PackedColumn<StackId>,
    context: PackedColumn<ContextId>,
}

impl EventTable {
    /// Appends an event; events before the first one with a time get the time 0.
    pub fn push(&mut self, event: Event) {
        let Event { action, addr, size_bytes, time_us, stack, context } = event;
        if time_us != 0 || !self.time_us.is_empty() {
            while self.time_us.len() < self.action.len() {
                self.time_us.push(0);
            }
            self.time_us.push(time_us);
        }
        self.action.push(action);
        self.addr.push(addr);
        self.size_bytes.push(size_bytes);
        self.stack.push(stack);
        self.context.push(context);
    }

    pub fn len(&self) -> usize {
        self.action.len()
    }

    pub fn is_empty(&self) -> bool {
        self.action.is_empty()
    }

    pub fn at(&self, index: usize) -> Event {
        Event {
            action: self.action.at(index),
            addr: self.addr.at(index),
            size_bytes: self.size_bytes.at(index),
            time_us: self.time_us.get(index).unwrap_or(0),
            stack: self.stack.at(index),
            context: self.context.at(index),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Event> + '_ {
        (0..self.len()).map(|index| self.at(index))
    }

    pub fn has_times(&self) -> bool {
        !self.time_us.is_empty()
    }

    pub fn actions(&self) -> &Column<Action> {
        &self.action
    }

    pub fn addrs(&self) -> &PackedColumn<u64> {
        &self.addr
    }

    pub fn sizes_bytes(&self) -> &PackedColumn<u64> {
        &self.size_bytes
    }

    /// Returns the times in microseconds since the Unix epoch; the column is empty if no time was recorded.
    pub fn times_us(&self) -> &PackedColumn<i64> {
        &self.time_us
    }

    pub fn stacks(&self) -> &PackedColumn<StackId> {
        &self.stack
    }

    pub fn contexts(&self) -> &PackedColumn<ContextId> {
        &self.context
    }

    /// Splits the rows into one table per list of ranges and frees this table on the way.
    ///
    /// Ascending ranges without overlap, as in every snapshot that PyTorch writes, need no second copy of the rows.
    pub fn split(self, lists: &[&[Range<u32>]]) -> Vec<Self> {
        let flat = || lists.iter().enumerate().flat_map(|(list, ranges)| ranges.iter().map(move |range| (list, range)));
        let mut tables: Vec<Self> = lists.iter().map(|_| Self::default()).collect();
        if let [(list, whole)] = flat().collect::<Vec<_>>()[..]
            && (whole.start, whole.end as usize) == (0, self.len())
        {
            tables[list] = self;
            return tables;
        }
        if flat().is_sorted_by(|a, b| a.1.end <= b.1.start) {
            let mut wanted = flat().filter(|(_, range)| !range.is_empty()).peekable();
            for (row, event) in self.into_rows().enumerate() {
                while wanted.peek().is_some_and(|(_, range)| range.end as usize <= row) {
                    wanted.next();
                }
                match wanted.peek() {
                    Some(&(list, range)) if range.start as usize <= row => tables[list].push(event),
                    _ => {}
                }
            }
        } else {
            for (list, range) in flat() {
                range.clone().for_each(|row| tables[list].push(self.at(row as usize)));
            }
        }
        tables
    }

    fn into_rows(self) -> impl Iterator<Item = Event> {
        let Self { action, addr, size_bytes, time_us, stack, context } = self;
        let (mut addr, mut size_bytes, mut time_us) = (addr.into_rows(), size_bytes.into_rows(), time_us.into_rows());
        let (mut stack, mut context) = (stack.into_rows(), context.into_rows());
        action.into_iter().map_while(move |action| {
            Some(Event {
                action,
                addr: addr.next()?,
                size_bytes: size_bytes.next()?,
                time_us: time_us.next().unwrap_or(0),
                stack: stack.next()?,
                context: context.next()?,
            })
        })
    }

    /// Panics unless all columns have the same length and all handles are below the given table sizes.
    pub(super) fn check(&self, stacks: usize, contexts: usize) {
        let Self { action, addr, size_bytes, time_us, stack, context } = self;
        assert_eq!(addr.len(), action.len(), "addr column");
        assert_eq!(size_bytes.len(), action.len(), "size column");
        assert!(time_us.is_empty() || time_us.len() == action.len(), "time column");
        assert_eq!(stack.len(), action.len(), "stack column");
        assert_eq!(context.len(), action.len(), "context column");
        assert!(stack.iter().all(|id| id.index() < stacks), "stack handle");
        assert!(context.iter().all(|id| id.index() < contexts), "context handle");
    }
}

/// Memory pool, `(0, 0)` for the default one.
///
/// `(0, n)` is a `MemPool` or a graph pool handle, `(n, 0)` was created by a graph capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PoolId(pub u64, pub u64);

/// Properties of an event that repeat from event to event.
///
/// A trace of ten million events has only a few dozen distinct contexts, so each is stored once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventContext {
    /// Raw stream handle, 0 for the default stream.
    pub stream: u64,
    /// Pool, if the file names it (torch 2.8 on).
    pub pool: Option<PoolId>,
    /// Compiled region (torch 2.8 on); [`StringId::EMPTY`] if absent or empty.
    pub compile_context: StringId,
    /// User's text (torch 2.10 on), or the payload of an `annotate` event.
    pub user_metadata: StringId,
    /// Allocator's own tag (torch 2.15 on).
    pub internal_metadata: StringId,
    /// Category that `profile_plot` adds.
    pub category: StringId,
    /// Lines of the forward stack of a backward event (torch 2.11 on, anomaly mode).
    pub forward_frames: LinesId,
}

handle! {
    /// Handle to a context of the [`ContextTable`] that issued it.
    pub struct ContextId of "contexts"
}

/// All distinct contexts of a trace.
#[derive(Clone, Debug, Default)]
pub struct ContextTable {
    rows: Vec<EventContext>,
    index: HashMap<EventContext, ContextId>,
    lines: LineTable,
}

impl ContextTable {
    /// Creates a table without contexts but with the line lists of another one, whose contexts can then be added.
    pub fn with_lines_of(other: &Self) -> Self {
        Self { lines: other.lines.clone(), ..Self::default() }
    }

    pub fn intern_lines(&mut self, lines: &[StringId]) -> LinesId {
        self.lines.intern(lines)
    }

    pub fn lines(&self, id: LinesId) -> &[StringId] {
        self.lines.get(id)
    }

    pub fn intern(&mut self, context: EventContext) -> ContextId {
        let next = ContextId(u32::try_from(self.rows.len()).expect("fewer than 2^32 contexts"));
        *self.index.entry(context).or_insert_with(|| {
            self.rows.push(context);
            next
        })
    }

    pub fn get(&self, id: ContextId) -> &EventContext {
        &self.rows[id.index()]
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &EventContext> {
        self.rows.iter()
    }

    pub(super) fn check(&self, string_count: usize) {
        let Self { rows, index, lines } = self;
        assert_eq!(index.len(), rows.len(), "every context is indexed");
        lines.check(string_count);
        for row in rows {
            let texts = [row.compile_context, row.user_metadata, row.internal_metadata, row.category];
            assert!(texts.iter().all(|text| text.index() < string_count), "string handle of a context");
            assert!(lines.has(row.forward_frames), "handle of lines of a context");
        }
    }
}
