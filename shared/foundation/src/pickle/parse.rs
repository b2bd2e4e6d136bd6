//! Parses single opcodes of the fast path, in bytes that are checked at once.

use super::Val;
use super::opcode::*;

/// Returns five bytes of a window, which hold an opcode and an index.
#[inline(always)]
pub(super) fn head(window: &[u8; WINDOW], at: usize) -> [u8; 5] {
    window[at..].first_chunk().copied().unwrap_or_default()
}

/// Parses an opcode that pushes an integer of at most eight bytes; also returns its length.
#[inline(always)]
pub(super) fn integer(window: &[u8; WINDOW]) -> Option<(Val, usize)> {
    // Lengths vary from number to number, so that a branch for each would hardly ever be predicted.
    let is_long = window[0] == LONG1;
    let header_len = 1 + usize::from(is_long);
    let len = match window[0] {
        BININT1 => 1,
        BININT2 => 2,
        BININT => 4,
        LONG1 => usize::from(window[1]),
        _ => 0,
    };
    if !(1..=8).contains(&len) {
        return None;
    }
    let data = if is_long { u64_at::<2>(window) } else { u64_at::<1>(window) };
    // Shifting left removes the bytes behind the number; shifting back extends its sign, which only some have.
    let unused_bits = 64 - 8 * len;
    let unsigned = (data << unused_bits) >> unused_bits;
    let signed = ((data << unused_bits) as i64) >> unused_bits;
    let value = if len < 4 && !is_long { unsigned as i64 } else { signed };
    Some((Val::int(value)?, header_len + len))
}

/// Parses an opcode that gets a value from the memo: returns its index and the length of the opcode.
#[inline(always)]
pub(super) fn reference([opcode, data @ ..]: [u8; 5]) -> Option<(u64, usize)> {
    match opcode {
        LONG_BINGET => Some((u64::from(u32::from_le_bytes(data)), 5)),
        BINGET => Some((u64::from(data[0]), 2)),
        _ => None,
    }
}

/// Parses references up to the first other opcode or the first one that `get` leaves to the general path.
///
/// Returns the number of items and the position behind them.
#[inline(always)]
pub(super) fn references(
    input: &[u8],
    mut at: usize,
    items: &mut [Val],
    get: impl Fn(u64) -> Option<Val>,
) -> (usize, usize) {
    let mut count = 0;
    for place in items {
        let Some(&opcode) = input.get(at..).and_then(<[u8]>::first_chunk) else { break };
        let Some((index, len)) = reference(opcode) else { break };
        let Some(val) = get(index) else { break };
        *place = val;
        count += 1;
        at += len;
    }
    (count, at)
}

/// Returns the length of an opcode that memoizes a value under the index `next`, or 0 for any other opcode.
#[inline(always)]
pub(super) fn put_len([opcode, data @ ..]: [u8; 5], next: u64) -> usize {
    match opcode {
        MEMOIZE => 1,
        BINPUT if u64::from(data[0]) == next => 2,
        LONG_BINPUT if u64::from(u32::from_le_bytes(data)) == next => 5,
        _ => 0,
    }
}

/// Bytes that are checked at once.
///
/// They are enough for a value of ten bytes and the opcode that memoizes it, for a key, and for the opcodes that open a
/// container.
pub(super) const WINDOW: usize = 32;

/// Returns the bytes from `at` on, `None` if there are too few.
#[inline(always)]
pub(super) fn window(input: &[u8], at: usize) -> Option<&[u8; WINDOW]> {
    input.get(at..)?.first_chunk()
}

#[inline(always)]
pub(super) fn u32_at<const AT: usize>(window: &[u8; WINDOW]) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| window[AT + byte]))
}

#[inline(always)]
fn u64_at<const AT: usize>(window: &[u8; WINDOW]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| window[AT + byte]))
}
