//! How much memory a pickle may take.
//!
//! A pickle refers to a value again in two bytes, however large it is.
//! So what is shared stays a handle while it is read, and where it has to be written out, a budget in proportion to the
//! bytes stops it.
//!
//! The most that opcodes take is a set for each byte, which is a node of the heap and a value on the stack, and a
//! document that shares takes 64 bytes more.
//! A recorded snapshot takes one to two bytes for each byte.

/// The most bytes of memory for each byte that is decoded.
pub const MOST_MEMORY_PER_BYTE: u64 = 160;

/// The most bytes of memory beyond that, for a file of any size.
pub const MOST_MEMORY_APART: u64 = 4 << 20;

/// The most bytes of memory that are held at a time while so many bytes are decoded, the result included.
///
/// Decoded bytes are those of the file, or what gzip and base64 unpack to, whichever is more.
pub fn most_memory_bytes(decoded_bytes: u64) -> u64 {
    MOST_MEMORY_APART.saturating_add(MOST_MEMORY_PER_BYTE.saturating_mul(decoded_bytes))
}
