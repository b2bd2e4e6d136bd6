//! Kinds of handles that stand for what was already read; the memo packs only kinds up to 8.

pub(super) const FRAME: u8 = 0;
pub(super) const STACK: u8 = 1;
pub(super) const EVENT: u8 = 2;
pub(super) const BLOCK: u8 = 3;
pub(super) const SEGMENT: u8 = 4;
pub(super) const HISTORY_ENTRY: u8 = 5;
/// List of rows of one kind.
pub(super) const LIST: u8 = 6;
/// Pair of numbers that was written as a list.
pub(super) const POOL: u8 = 7;
