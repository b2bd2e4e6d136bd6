//! Machine operations on containers that are read as a whole, without passing the stack.

use super::heap::Shape;
use super::machine::{MAX_DEPTH, Machine};
use super::memo::Memo;
use super::template::{Items, ListKey, Memoized, Record, Template};
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
        self.memo.push(val);
    }

    /// Pushes the value of a dictionary that is complete and was never on the stack, and returns it.
    ///
    /// `has_open` says whether `entries` holds open values, which are closed first.
    #[inline(always)]
    pub(super) fn end_dict(&mut self, dict: Val, entries: &mut [Val], has_open: bool) -> Val {
        let position = self.stack.len();
        let val = self.dict_of(entries, has_open);
        self.settle_memo(dict, position, val);
        self.stack.push(val);
        val
    }

    #[inline(always)]
    fn dict_of(&mut self, entries: &mut [Val], has_open: bool) -> Val {
        if has_open {
            self.close_entries(self.stack.len() + 1, entries);
        }
        let taken = self.builder.dict(entries, &self.heap);
        taken.unwrap_or_else(|| self.heap.add(Shape::Dict, entries.to_vec()))
    }

    /// Pushes and memoizes the value of a record.
    ///
    /// Returns its list if that was not known and the builder took it as part of the record.
    #[inline]
    pub(super) fn end_record(&mut self, template: &Template, record: &Record) -> Option<(ListKey, Val)> {
        let mut values = record.values;
        let (mut list, mut puts, mut new_list) = (Val::NONE, 0, None);
        if let Some(inline) = &record.list {
            list = match inline.items {
                Items::Empty => Val::EMPTY_LIST,
                Items::Known(val) => val,
                Items::New(count, key) => {
                    let val = self.list_of(&record.items[..count]);
                    new_list = key.map(|key| (key, val));
                    val
                }
            };
            puts = inline.puts;
            values[inline.place] = list;
        }
        let val = match self.builder.record(template.tag, &values) {
            Some(val) => val,
            None => {
                new_list = None;
                self.dict_of(&mut template.entries(&values), list.is_open())
            }
        };
        for memoized in &template.memoized {
            match *memoized {
                Memoized::Record => self.memo.push(val),
                Memoized::Same(val) => self.memo.push(val),
                Memoized::List => (0..puts).for_each(|_| self.memo.push(list)),
            }
        }
        self.stack.push(val);
        new_list
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
        let val = self.list_of(items);
        self.settle_memo(list, self.stack.len() + above, val);
        val
    }

    #[inline(always)]
    fn list_of(&mut self, items: &[Val]) -> Val {
        debug_assert!(items.iter().all(|item| !item.is_open()));
        let taken = self.builder.list(items, &self.heap);
        taken.unwrap_or_else(|| self.heap.add(Shape::List, items.to_vec()))
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
