//! The line of the user's own code that most of something comes from.

use crate::analysis::{Study, own_place};
use crate::trace::StackId;
use hashbrown::HashMap;
use std::cmp::Reverse;

/// A place in the user's own code.
pub(super) struct OwnCode {
    /// Such as `train (train.py:88)`.
    pub(super) place: String,
    /// Whether everything comes from it, and not only half or more.
    pub(super) is_all: bool,
}

impl OwnCode {
    /// The place that half or more of the bytes come from; `None` where no place of the user's own has so much.
    pub(super) fn of(study: &Study<'_>, rows: impl Iterator<Item = (u64, StackId)>) -> Option<Self> {
        let mut all = 0_u64;
        let mut by_place: HashMap<String, u64> = HashMap::new();
        for (bytes, stack) in rows {
            all = all.saturating_add(bytes);
            if let Some(place) = own_place(study.trace, stack) {
                let sum = by_place.entry(place).or_default();
                *sum = sum.saturating_add(bytes);
            }
        }
        let (place, bytes) = by_place.into_iter().max_by_key(|(place, bytes)| (*bytes, Reverse(place.clone())))?;
        (bytes > 0 && bytes.saturating_mul(2) >= all).then_some(Self { place, is_all: bytes == all })
    }
}
