//! The ordered allocator events of one device.

use super::{ContextId, StackId};
use crate::base::Column;
use std::ops::Range;

/// What the allocator did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Action {
    /// A block was handed out; the size is the requested one.
    Alloc,
    /// The user let go of a block.
    FreeRequested,
    /// The block is back in its pool.
    #[default]
    FreeCompleted,
    /// A segment came from `cudaMalloc`.
    SegmentAlloc,
    /// A segment went back through `cudaFree`.
    SegmentFree,
    /// Pages were mapped into an expandable segment.
    SegmentMap,
    /// Pages were unmapped from an expandable segment.
    SegmentUnmap,
    /// A snapshot was taken; the size is the device's active bytes.
    Snapshot,
    /// Out of memory was raised; the size is the rounded request, the address column holds the device's free bytes.
    Oom,
    /// A tensor was annotated after the fact (torch 2.14 on).
    Annotate,
    /// A mark of nightly builds of 2024.
    UserDefined,
    /// An action that this program does not know; a diagnostic names it.
    Unknown,
}

impl Action {
    /// All actions, in the order of their numbers.
    pub const ALL: [Self; 12] = [
        Self::Alloc,
        Self::FreeRequested,
        Self::FreeCompleted,
        Self::SegmentAlloc,
        Self::SegmentFree,
        Self::SegmentMap,
        Self::SegmentUnmap,
        Self::Snapshot,
        Self::Oom,
        Self::Annotate,
        Self::UserDefined,
        Self::Unknown,
    ];

    /// The name in snapshot files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alloc => "alloc",
            Self::FreeRequested => "free_requested",
            Self::FreeCompleted => "free_completed",
            Self::SegmentAlloc => "segment_alloc",
            Self::SegmentFree => "segment_free",
            Self::SegmentMap => "segment_map",
            Self::SegmentUnmap => "segment_unmap",
            Self::Snapshot => "snapshot",
            Self::Oom => "oom",
            Self::Annotate => "annotate",
            Self::UserDefined => "user_defined",
            Self::Unknown => "unknown",
        }
    }

    /// The action of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// One row of an [`EventTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub action: Action,
    /// The device address; for `oom` the free bytes of the device.
    pub addr: u64,
    /// The size, see [`Action`].
    pub size_bytes: u64,
    /// Microseconds since the Unix epoch, 0 in a table without times.
    pub time_us: i64,
    /// The call stack, [`StackId::NONE`] where none was recorded.
    pub stack: StackId,
    /// Stream, pool and texts.
    pub context: ContextId,
}

/// The events of one device as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventTable {
    action: Column<Action>,
    addr: Column<u64>,
    size_bytes: Column<u64>,
    /// Empty until an event has a time.
    time_us: Column<i64>,
    stack: Column<StackId>,
    context: Column<ContextId>,
}

impl EventTable {
    /// Appends an event; `time_us` counts from the first event that has one.
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

    /// The number of events.
    pub fn len(&self) -> usize {
        self.action.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.action.is_empty()
    }

    /// The event at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
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

    /// All events in order.
    pub fn iter(&self) -> impl Iterator<Item = Event> + '_ {
        (0..self.len()).map(|index| self.at(index))
    }

    /// Whether any event has a time.
    pub fn has_times(&self) -> bool {
        !self.time_us.is_empty()
    }

    /// The actions.
    pub fn actions(&self) -> &Column<Action> {
        &self.action
    }

    /// The addresses.
    pub fn addrs(&self) -> &Column<u64> {
        &self.addr
    }

    /// The sizes in bytes.
    pub fn sizes_bytes(&self) -> &Column<u64> {
        &self.size_bytes
    }

    /// The times in microseconds since the Unix epoch; an empty column where none was recorded.
    pub fn times_us(&self) -> &Column<i64> {
        &self.time_us
    }

    /// The stacks.
    pub fn stacks(&self) -> &Column<StackId> {
        &self.stack
    }

    /// The contexts.
    pub fn contexts(&self) -> &Column<ContextId> {
        &self.context
    }

    /// Deals the rows out to one table for each list of ranges, freeing this one as it goes.
    ///
    /// Ranges that ascend and don't overlap, as in every snapshot that PyTorch writes, need no second copy.
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

    /// All events in order, freeing the columns as they go.
    fn into_rows(self) -> impl Iterator<Item = Event> {
        let Self { action, addr, size_bytes, time_us, stack, context } = self;
        let (mut addr, mut size_bytes, mut time_us) = (addr.into_iter(), size_bytes.into_iter(), time_us.into_iter());
        let (mut stack, mut context) = (stack.into_iter(), context.into_iter());
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

    /// Panics unless all columns have one length and all handles are below the given table sizes.
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
