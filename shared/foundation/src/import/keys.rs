//! Keys of snapshot files, interned first so that their handles are constants, with the values of a record by key, and
//! the kinds of handles that stand for what was already read.

use crate::base::{StringId, StringTable};
use crate::pickle::Val;
use crate::trace::Action;

macro_rules! keys {
    ($($name:ident = $number:literal $text:literal),* $(,)?) => {
        $(pub(super) const $name: usize = $number;)*

        const TEXTS: &[(usize, &str)] = &[$(($number, $text)),*];
    };
}

// A key's number is the index of its handle in the string table; 0 is the empty string.
keys! {
    ACTION = 1 "action", ADDR = 2 "addr", DEVICE_FREE = 3 "device_free", SIZE = 4 "size", STREAM = 5 "stream",
    TIME_US = 6 "time_us", COMPILE_CONTEXT = 7 "compile_context", USER_METADATA = 8 "user_metadata",
    POOL_ID = 9 "pool_id", INTERNAL_METADATA = 10 "internal_metadata", FRAMES = 11 "frames",
    FORWARD_FRAMES = 12 "forward_frames", CATEGORY = 13 "category",
    NAME = 14 "name", FILENAME = 15 "filename", LINE = 16 "line",
    FX_NODE_OP = 17 "fx_node_op", FX_NODE_NAME = 18 "fx_node_name", FX_NODE_TARGET = 19 "fx_node_target",
    FX_ORIGINAL_TRACE = 20 "fx_original_trace",
    DEVICE = 21 "device", ADDRESS = 22 "address", TOTAL_SIZE = 23 "total_size", ALLOCATED_SIZE = 24 "allocated_size",
    ACTIVE_SIZE = 25 "active_size", REQUESTED_SIZE = 26 "requested_size", SEGMENT_TYPE = 27 "segment_type",
    SEGMENT_POOL_ID = 28 "segment_pool_id", IS_EXPANDABLE = 29 "is_expandable", BLOCKS = 30 "blocks",
    STATE = 31 "state", HISTORY = 32 "history", REAL_SIZE = 33 "real_size",
    SEGMENTS = 34 "segments", DEVICE_TRACES = 35 "device_traces", ALLOCATOR_SETTINGS = 36 "allocator_settings",
    EXTERNAL_ANNOTATIONS = 37 "external_annotations", HOST_SEGMENTS = 38 "host_segments",
    HOST_TRACES = 39 "host_traces",
}

/// Number of the last key plus one.
pub(super) const KEY_COUNT: usize = 40;

pub(super) const fn bit(key: usize) -> u64 {
    1 << key
}

pub(super) const fn bits<const N: usize>(keys: [usize; N]) -> u64 {
    let mut set = 0;
    let mut at = 0;
    while at < N {
        set |= bit(keys[at]);
        at += 1;
    }
    set
}

/// Creates a string table that begins with the keys and the names of the actions.
pub(super) fn string_table() -> StringTable {
    let mut strings = StringTable::new();
    for &(number, text) in TEXTS {
        let id = strings.intern(text);
        debug_assert_eq!(id.index(), number, "{text}");
    }
    for action in Action::ALL {
        strings.intern(action.name());
    }
    strings
}

/// Returns the action that a string of [`string_table`] names.
#[inline]
pub(super) fn action(id: StringId) -> Option<Action> {
    Action::ALL.get(id.index().wrapping_sub(KEY_COUNT)).copied()
}

// Kinds of handles; the memo packs only kinds up to 8.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_their_handles() {
        let strings = string_table();
        for &(number, text) in TEXTS {
            assert_eq!(strings.find(text).map(StringId::index), Some(number), "{text}");
        }
        assert_eq!(TEXTS.len() + 1, KEY_COUNT);
        const { assert!(KEY_COUNT <= 64, "a set of keys is 64 bits") };
        for wanted in Action::ALL {
            assert_eq!(action(strings.find(wanted.name()).unwrap()), Some(wanted));
        }
        assert_eq!(action(StringId::EMPTY), None);
    }
}
