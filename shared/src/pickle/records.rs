//! Machine operations on containers that are read as a whole, without passing the stack.

use super::heap::Shape;
use super::machine::{MAX_DEPTH, Machine};
use super::memo::Memo;
use super::{Build, Val};

impl<B: Build> Machine<B> {
    #[inline(always)]
    pub(super) fn memo(&self) -> &Memo {
        &self.memo
    }

    /// Returns true if a container can be opened and marked, and another one inside it.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.marks.len() + 1 < MAX_DEPTH && self.stack.len() < Memo::MOST_PENDING
    }

    /// Creates an empty container for the stack index `above` values above the top, optionally memoized under the next
    /// index.
    #[inline(always)]
    pub(super) fn fresh(&mut self, fresh: Val, is_memoized: bool, above: usize) -> Val {
        if !is_memoized {
            return fresh;
        }
        let index = self.memo.len();
        let is_kept = self.memo.put_pending(index, self.stack.len() + above);
        debug_assert!(is_kept, "there was room on the stack");
        fresh.with_memo(index)
    }

    /// Memoizes a value that is no empty container under the next index.
    #[inline(always)]
    pub(super) fn memoize_closed(&mut self, val: Val) {
        debug_assert!(!val.is_fresh());
        self.memo.put(self.memo.len() as u64, val, u64::MAX);
    }

    /// Pushes the value of a dictionary that is complete and was never on the stack.
    ///
    /// `has_open` says whether `entries` holds open values, which are closed first.
    #[inline(always)]
    pub(super) fn end_dict(&mut self, dict: Val, entries: &mut [Val], has_open: bool) {
        let position = self.stack.len();
        if has_open {
            self.close_entries(position + 1, entries);
        }
        let taken = self.builder.dict(entries, &self.heap);
        let val = taken.unwrap_or_else(|| self.heap.add(Shape::Dict, entries.to_vec()));
        self.settle_memo(dict, position, val);
        self.stack.push(val);
    }

    #[cold]
    #[inline(never)]
    fn close_entries(&mut self, position: usize, entries: &mut [Val]) {
        for (above, val) in entries.iter_mut().enumerate() {
            if val.is_open() {
                *val = self.close(position + above, *val);
            }
        }
    }

    /// Returns the value of a complete list whose stack index is `above` values above the top.
    #[inline(always)]
    pub(super) fn end_list(&mut self, list: Val, items: &[Val], above: usize) -> Val {
        debug_assert!(items.iter().all(|item| !item.is_open()));
        let taken = self.builder.list(items, &self.heap);
        let val = taken.unwrap_or_else(|| self.heap.add(Shape::List, items.to_vec()));
        self.settle_memo(list, self.stack.len() + above, val);
        val
    }

    /// Pushes a container that was not on the stack, its mark, and its items so far.
    #[inline]
    pub(super) fn leave_open(&mut self, fresh: Val, items: &[Val]) {
        self.stack.push(fresh);
        self.marks.push(self.stack.len());
        self.stack.extend_from_slice(items);
    }

    #[inline(always)]
    fn settle_memo(&mut self, fresh: Val, position: usize, val: Val) {
        if let Some(index) = fresh.memo_index() {
            self.memo.resolve(index, position, val);
        }
    }
}
