//! What events share besides their stack: stream, pool and texts.

use crate::base::StringId;
use hashbrown::HashMap;

/// A private pool, `(0, 0)` for the default one.
///
/// `(0, n)` is a `MemPool` or a graph pool handle, `(n, 0)` was made by a graph capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId(pub u64, pub u64);

/// Everything about an event that repeats from event to event.
///
/// A trace of ten million events has a few dozen of these, so that they are kept once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventContext {
    /// The raw stream handle, 0 for the default stream.
    pub stream: u64,
    /// The pool, where the file names one (torch 2.8 on).
    pub pool: Option<PoolId>,
    /// The compiled region (torch 2.8 on); [`StringId::EMPTY`] where absent or empty.
    pub compile_context: StringId,
    /// The user's text (torch 2.10 on), or the payload of an `annotate` event.
    pub user_metadata: StringId,
    /// The allocator's own tag (torch 2.15 on).
    pub internal_metadata: StringId,
    /// The category that `profile_plot` adds.
    pub category: StringId,
    /// The forward stack of a backward event (torch 2.11 on, anomaly mode), one line each, joined by `\n`.
    pub forward_frames: StringId,
}

impl Default for EventContext {
    fn default() -> Self {
        Self {
            stream: 0,
            pool: None,
            compile_context: StringId::EMPTY,
            user_metadata: StringId::EMPTY,
            internal_metadata: StringId::EMPTY,
            category: StringId::EMPTY,
            forward_frames: StringId::EMPTY,
        }
    }
}

/// A handle to a context of the [`ContextTable`] that minted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextId(u32);

impl ContextId {
    /// The position in the table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All distinct contexts of a trace.
#[derive(Clone, Debug, Default)]
pub struct ContextTable {
    rows: Vec<EventContext>,
    index: HashMap<EventContext, ContextId>,
}

impl ContextTable {
    /// The handle of `context`, which is added if it is new.
    pub fn intern(&mut self, context: EventContext) -> ContextId {
        let next = ContextId(u32::try_from(self.rows.len()).expect("fewer than 2^32 contexts"));
        *self.index.entry(context).or_insert_with(|| {
            self.rows.push(context);
            next
        })
    }

    /// The context behind a handle of this table.
    pub fn get(&self, id: ContextId) -> &EventContext {
        &self.rows[id.index()]
    }

    /// The number of distinct contexts.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All contexts in order of first appearance.
    pub fn iter(&self) -> impl Iterator<Item = &EventContext> {
        self.rows.iter()
    }
}
