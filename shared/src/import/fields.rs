//! The fields of a record, by key.

use super::keys::{KEY_COUNT, bit};
use crate::pickle::Val;

/// Values of one dictionary, by key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) present: u64,
    pub(super) values: [Val; KEY_COUNT],
}

impl Default for Fields {
    fn default() -> Self {
        Self { present: 0, values: [Val::handle(0, 0); KEY_COUNT] }
    }
}

impl Fields {
    #[inline]
    pub(super) fn has(&self, key: usize) -> bool {
        self.present & bit(key) != 0
    }

    #[inline]
    pub(super) fn has_all(&self, keys: u64) -> bool {
        self.present & keys == keys
    }

    #[inline]
    pub(super) fn get(&self, key: usize) -> Option<Val> {
        self.has(key).then(|| self.values[key])
    }
}
