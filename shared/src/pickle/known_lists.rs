//! Recognises lists of memo references by their bytes.

use super::Val;
use super::opcode::{BINGET, LONG_BINGET};

/// Cache of lists, looked up by a hash of their bytes.
///
/// Most stacks of a trace are written again and again, a reference to each of their frames.
/// The bytes of a list tell its value as long as no entry of the memo is replaced.
#[derive(Debug)]
pub(super) struct KnownLists(Vec<KnownList>);

#[derive(Clone, Debug)]
struct KnownList {
    bytes: Vec<u8>,
    val: Val,
}

/// Bytes of a list's references, and where a list of these bytes is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListKey {
    slot: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Default for KnownLists {
    fn default() -> Self {
        Self(vec![KnownList { bytes: Vec::new(), val: Val::NONE }; 1 << Self::BITS])
    }
}

impl KnownLists {
    const BITS: u32 = 11;

    /// Returns the key of the references from `start` on, which end at the first other opcode.
    #[inline(always)]
    pub(super) fn key(input: &[u8], start: usize) -> ListKey {
        // Knuth's multiplicative hashing; bytes are compared before a list is used.
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let (mut hash, mut end) = (0u64, start);
        while let Some(&[opcode, ref data @ ..]) = input[end..].first_chunk::<5>() {
            // References of both lengths are mixed, so that a branch for each would hardly ever be predicted.
            let is_long = opcode == LONG_BINGET;
            if !is_long && opcode != BINGET {
                break;
            }
            let index = u32::from_le_bytes(*data) & if is_long { u32::MAX } else { 0xff };
            hash = (hash.rotate_left(5) ^ u64::from(index)).wrapping_mul(FACTOR);
            end += if is_long { 5 } else { 2 };
        }
        ListKey { slot: (hash >> (64 - Self::BITS)) as usize, start, end }
    }

    /// Returns the value of a list with these bytes.
    #[inline(always)]
    pub(super) fn get(&self, input: &[u8], key: ListKey) -> Option<Val> {
        let known = &self.0[key.slot];
        (key.end > key.start && known.bytes == input[key.start..key.end]).then_some(known.val)
    }

    /// Keeps the value of a list, in the place of another one.
    #[inline(never)]
    pub(super) fn set(&mut self, input: &[u8], key: ListKey, val: Val) {
        let known = &mut self.0[key.slot];
        known.bytes.clear();
        known.bytes.extend_from_slice(&input[key.start..key.end]);
        known.val = val;
    }

    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(|known| known.bytes.clear());
    }
}
