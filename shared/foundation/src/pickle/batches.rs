//! Extends lists that the builder has already taken, and makes instances of classes that it takes as data.
//!
//! CPython writes a long list as several batches, and the builder takes the list after the first one.
//!
//! An instance is a handle of the builder. Its class is never looked up, and none of its code runs.
//! An operation returns `None` if the builder does not take the object, which is then refused.

use super::heap::ErrorKind;
use super::machine::{Batch, Machine, Result, unexpected};
use super::memo::Entry;
use super::{Build, Val};

/// List items that may be copied to the heap, in addition to as many as were appended so far.
///
/// A list is copied once as it is written, after its first batch; further copies mean that a list is changed through
/// the memo again and again.
const FREE_COPIES: u64 = 10_000;

impl<B: Build> Machine<B> {
    /// Records the memo index of a list that the builder took and that may continue.
    #[cold]
    pub(super) fn note_batch(&mut self, position: usize, val: Val) {
        self.batches.retain(|batch| batch.position < position);
        if let (Some(memo_index), Some(_)) = (self.stack[position].memo_index(), val.as_handle()) {
            self.batches.push(Batch { position, memo_index, val });
        }
    }

    /// Replaces a list by its copy in the memo, so that later references see all of its items.
    pub(super) fn replace_batch(&mut self, position: usize, node: Val) {
        let is_it = |batch: &&Batch| batch.position == position && batch.val == self.stack[position];
        let Some(&Batch { memo_index, val, .. }) = self.batches.iter().find(is_it) else { return };
        if matches!(self.memo.get(memo_index as u64), Entry::Val(known) if known == val) {
            self.memo.put(memo_index as u64, node, u64::MAX);
        }
    }

    /// Returns the items of a list that the builder took, followed by the stack from `start` on.
    #[cold]
    pub(super) fn copy_of(&mut self, list: Val, start: usize) -> Result<Vec<Val>> {
        let Some(len) = self.builder.len(list) else { return Err(unexpected("a list", list)) };
        self.copied += len as u64;
        let limit = FREE_COPIES + self.appended;
        if self.copied > limit {
            return Err(Box::new(ErrorKind::Limit {
                what: "items in lists that are copied in order to be changed",
                limit,
            }));
        }
        let added = &self.stack[start..];
        let mut all = Vec::with_capacity(len + added.len());
        self.builder.expand(list, &mut all);
        all.extend_from_slice(added);
        Ok(all)
    }
}

impl<B: Build> Machine<B> {
    /// Executes `STACK_GLOBAL`.
    pub(super) fn class(&mut self) -> Option<()> {
        let (name, module) = (self.pop().ok()?, self.pop().ok()?);
        let class = self.builder.class(module.as_str()?, name.as_str()?)?;
        self.push(class);
        Some(())
    }

    /// Executes `NEWOBJ` for a class without arguments.
    pub(super) fn instance(&mut self) -> Option<()> {
        let (arguments, class) = (self.pop().ok()?, self.pop().ok()?);
        let instance = self.builder.instance(class).filter(|_| arguments == Val::EMPTY_TUPLE)?;
        self.push(instance);
        Some(())
    }

    /// Executes `BUILD`.
    pub(super) fn state(&mut self) -> Option<()> {
        let state = self.pop().ok()?;
        let state = self.close(self.stack.len(), state);
        let instance = *self.stack.last()?;
        self.builder.state(instance, state, &self.heap).then_some(())
    }
}
