//! Keys of dictionaries, recognised by their bytes.

use super::Val;
use super::memo::Memo;
use super::opcode::*;
use super::runs::{WINDOW, u32_at, u64_at};
use std::ops::{Index, IndexMut};

/// Keys by the key before them in the same dictionary.
///
/// Which key comes next hardly ever changes, so that its opcode need only be compared and not looked up.
#[derive(Debug)]
pub(super) struct KnownKeys {
    keys: [KnownKey; Self::LEN],
    /// The memo's count of replaced entries while these were learnt.
    rewrites: u64,
}

/// An opcode that puts a key on the stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownKey {
    /// The opcode and its data, lowest byte first; no bytes are equal to it where nothing is known.
    bytes: u64,
    mask: u64,
    /// The length of the opcode and its data.
    pub(super) len: usize,
    /// The key.
    pub(super) val: Val,
    /// Where the next key of the dictionary is looked for.
    pub(super) slot: usize,
}

impl KnownKey {
    const NONE: Self = Self { bytes: 1, mask: 0, len: 0, val: Val::NONE, slot: KnownKeys::FIRST };

    /// Whether a window begins with this opcode.
    #[inline(always)]
    pub(super) fn is_at(&self, window: &[u8; WINDOW]) -> bool {
        u64_at::<0>(window) & self.mask == self.bytes
    }

    /// The key that a window begins with, if it is a text of the memo.
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
    /// Where the first key of a dictionary is looked for.
    pub(super) const FIRST: usize = 0;

    /// Forgets everything if an entry of the memo was replaced, which no pickler does.
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
