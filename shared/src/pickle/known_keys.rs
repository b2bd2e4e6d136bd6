//! Predicts dictionary keys and recognises them by their bytes.

use super::Val;
use super::memo::Memo;
use super::opcode::*;
use super::parse::{WINDOW, u32_at, u64_at};
use std::ops::{Index, IndexMut};

/// Cache of dictionary keys, looked up by the key before them in the same dictionary.
///
/// The next key hardly ever changes, so that its opcode only has to be compared and not looked up in the memo.
#[derive(Debug)]
pub(super) struct KnownKeys {
    keys: [KnownKey; Self::LEN],
    /// Value of [`Memo::rewrites`] when these keys were learnt.
    rewrites: u64,
}

/// Opcode that pushes a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownKey {
    /// Opcode and its data, lowest byte first; a value that matches no bytes if no key is known.
    bytes: u64,
    mask: u64,
    /// Length of the opcode and its data in bytes.
    pub(super) len: usize,
    pub(super) val: Val,
    /// Slot of the dictionary's next key.
    pub(super) slot: usize,
}

impl KnownKey {
    const NONE: Self = Self { bytes: 1, mask: 0, len: 0, val: Val::NONE, slot: KnownKeys::FIRST };

    /// Returns true if the window begins with this opcode.
    #[inline(always)]
    pub(super) fn is_at(&self, window: &[u8; WINDOW]) -> bool {
        u64_at::<0>(window) & self.mask == self.bytes
    }

    /// Reads the key at the start of a window if it refers to a string in the memo.
    #[inline]
    pub(super) fn learn(window: &[u8; WINDOW], memo: &Memo) -> Option<Self> {
        let (index, len) = match window[0] {
            BINGET => (u64::from(window[1]), 2),
            LONG_BINGET => (u64::from(u32_at::<1>(window)), 5),
            _ => return None,
        };
        let val = memo.get_common(index)?;
        let slot = val.as_str()?.index() % KnownKeys::LEN;
        let mask = (1 << (8 * len)) - 1;
        Some(Self { bytes: u64_at::<0>(window) & mask, mask, len, val, slot })
    }
}

impl Default for KnownKeys {
    fn default() -> Self {
        Self { keys: [KnownKey::NONE; Self::LEN], rewrites: 0 }
    }
}

impl KnownKeys {
    const LEN: usize = 64;
    /// Slot of a dictionary's first key.
    pub(super) const FIRST: usize = 0;

    /// Clears the cache if an entry of the memo was replaced, which no pickler does.
    #[inline]
    pub(super) fn follow(&mut self, memo: &Memo) {
        if self.rewrites != memo.rewrites() {
            *self = Self { rewrites: memo.rewrites(), ..Self::default() };
        }
    }
}

impl Index<usize> for KnownKeys {
    type Output = KnownKey;

    #[inline(always)]
    fn index(&self, slot: usize) -> &KnownKey {
        &self.keys[slot % Self::LEN]
    }
}

impl IndexMut<usize> for KnownKeys {
    #[inline(always)]
    fn index_mut(&mut self, slot: usize) -> &mut KnownKey {
        &mut self.keys[slot % Self::LEN]
    }
}
