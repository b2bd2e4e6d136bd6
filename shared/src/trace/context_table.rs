//! What events share besides their stack: stream, pool and texts.

use super::line_table::{LineTable, LinesId};
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
    /// The lines of the forward stack of a backward event (torch 2.11 on, anomaly mode).
    pub forward_frames: LinesId,
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
            forward_frames: LinesId::EMPTY,
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
    lines: LineTable,
}

impl ContextTable {
    /// A table without contexts that knows the lists of lines of another one, so that its contexts can be added.
    pub fn with_lines_of(other: &Self) -> Self {
        Self { lines: other.lines.clone(), ..Self::default() }
    }

    /// The handle of a list of lines for a context, which is added if it is new.
    pub fn intern_lines(&mut self, lines: &[StringId]) -> LinesId {
        self.lines.intern(lines)
    }

    /// The lines behind a handle of this table.
    pub fn lines(&self, id: LinesId) -> &[StringId] {
        self.lines.get(id)
    }

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
