//! Lists that go on after the builder took them.

use super::error::ErrorKind;
use super::machine::{Machine, Result, unexpected};
use super::memo::Entry;
use super::{Build, Val};

/// A list of so many items may go on: CPython writes lists in batches of this length (`BATCHSIZE`).
pub(super) const BATCH_ITEMS: usize = 1000;

/// So many items of lists may be copied to the heap, beside as many as were appended so far.
///
/// A list is copied once as it is written, after its first batch; more copies come of a list that is changed through
/// the memo again and again.
const FREE_COPIES: u64 = 10_000;

/// A list that the builder took after its first batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// Where it stands on the stack.
    position: usize,
    memo_index: usize,
    val: Val,
}

impl<B: Build> Machine<B> {
    /// Remembers where the memo has a list that the builder took and that may go on.
    #[cold]
    pub(super) fn note_batch(&mut self, position: usize, val: Val) {
        self.batches.retain(|batch| batch.position < position);
        if let (Some(memo_index), Some(_)) = (self.stack[position].memo_index(), val.as_handle()) {
            self.batches.push(Batch { position, memo_index, val });
        }
    }

    /// Puts the copy of a list that goes on in its place in the memo, so that later references are to all of it.
    pub(super) fn replace_batch(&mut self, position: usize, node: Val) {
        let is_it = |batch: &&Batch| batch.position == position && batch.val == self.stack[position];
        let Some(&Batch { memo_index, val, .. }) = self.batches.iter().find(is_it) else { return };
        if matches!(self.memo.get(memo_index as u64), Entry::Val(known) if known == val) {
            self.memo.put(memo_index as u64, node, u64::MAX);
        }
    }

    /// The items of a list of the builder and those from `start` on.
    #[cold]
    pub(super) fn copy_of(&mut self, list: Val, start: usize) -> Result<Vec<Val>> {
        let Some(len) = self.builder.len(list) else { return Err(unexpected("a list", list)) };
        self.copied += len as u64;
        let limit = FREE_COPIES + self.appended;
        if self.copied > limit {
            return Err(Box::new(ErrorKind::Limit { what: "items of lists that are copied to be changed", limit }));
        }
        let added = &self.stack[start..];
        let mut all = Vec::with_capacity(len + added.len());
        self.builder.expand(list, &mut all);
        all.extend_from_slice(added);
        Ok(all)
    }
}
