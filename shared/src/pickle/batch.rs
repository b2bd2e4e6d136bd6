//! A list that the builder took after its first batch, and that may continue.

use super::Val;

/// Length of a list's first batch from which the list may continue (CPython's `BATCHSIZE`).
pub(super) const BATCH_ITEMS: usize = 1000;

/// List that the builder took after its first batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// Index of the list on the stack.
    pub(super) position: usize,
    pub(super) memo_index: usize,
    pub(super) val: Val,
}
