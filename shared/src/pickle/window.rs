//! The bytes that the fast path checks at once, and the numbers in them.

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
pub(super) fn u64_at<const AT: usize>(window: &[u8; WINDOW]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| window[AT + byte]))
}
