//! Stores each distinct combination of an event's stream, pool and texts once.

use super::stack_table::{LineTable, LinesId};
use crate::base::{StringId, handle};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// Memory pool, `(0, 0)` for the default one.
///
/// `(0, n)` is a `MemPool` or a graph pool handle, `(n, 0)` was created by a graph capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PoolId(pub u64, pub u64);

/// Properties of an event that repeat from event to event.
///
/// A trace of ten million events has only a few dozen distinct contexts, so each is stored once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

    /// Returns the handle of a list of lines, which is added if it is new.
    pub fn intern_lines(&mut self, lines: &[StringId]) -> LinesId {
        self.lines.intern(lines)
    }

    /// Returns the lines behind a handle of this table.
    pub fn lines(&self, id: LinesId) -> &[StringId] {
        self.lines.get(id)
    }

    /// Returns the handle of `context`, which is added if it is new.
    pub fn intern(&mut self, context: EventContext) -> ContextId {
        let next = ContextId(u32::try_from(self.rows.len()).expect("fewer than 2^32 contexts"));
        *self.index.entry(context).or_insert_with(|| {
            self.rows.push(context);
            next
        })
    }

    /// Returns the context behind a handle of this table.
    pub fn get(&self, id: ContextId) -> &EventContext {
        &self.rows[id.index()]
    }

    /// Returns the number of distinct contexts.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Iterates over all contexts in order of first appearance.
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
