//! Upper bounds on the memory that a pickle may take.
//!
//! A pickle refers to a value again in two bytes, however large it is.
//! Shared values therefore stay handles while they are read. Where they have to be copied out, a budget in proportion
//! to the bytes limits the copies.
//!
//! The costliest opcode is the empty set: for one byte it takes a node of the heap and a value on the stack.
//! A document with shared parts takes 64 bytes more per byte.
//! A recorded snapshot takes one to two bytes per byte.

/// Upper bound on memory per decoded byte, in bytes.
pub const MOST_MEMORY_PER_BYTE: u64 = 160;

/// Upper bound on memory in addition to that, in bytes, for a file of any size.
pub const MOST_MEMORY_APART: u64 = 4 << 20;

/// Returns the upper bound on memory held at any time while a file is decoded, including the result, in bytes.
///
/// Decoded bytes are those of the file or those that gzip and base64 unpack to, whichever is more.
pub fn most_memory_bytes(decoded_bytes: u64) -> u64 {
    MOST_MEMORY_APART.saturating_add(MOST_MEMORY_PER_BYTE.saturating_mul(decoded_bytes))
}
