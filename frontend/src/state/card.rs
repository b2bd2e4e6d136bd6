//! The card for which a file is examined.

use crate::ask::WhatIfSetup;
use shared::analysis::CONTEXT_BYTES;

/// Card for which a file is examined.
///
/// What-if replays run on it, findings tell when it is full, and the timeline shows it as a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThisCard {
    pub capacity_bytes: u64,
    /// Part of that memory that is taken outside of PyTorch's allocator in a replay.
    pub elsewhere_bytes: u64,
}

impl ThisCard {
    /// Returns the card of a replay; `None` if its memory is unlimited.
    pub fn of(setup: &WhatIfSetup) -> Option<Self> {
        let WhatIfSetup { capacity_bytes, elsewhere_bytes, .. } = *setup;
        capacity_bytes.map(|capacity_bytes| Self { capacity_bytes, elsewhere_bytes })
    }

    /// Returns a card of which the usual part is taken outside of PyTorch's allocator.
    pub fn whole(capacity_bytes: u64) -> Self {
        Self { capacity_bytes, elsewhere_bytes: CONTEXT_BYTES }
    }

    pub fn put(card: Option<Self>, setup: WhatIfSetup) -> WhatIfSetup {
        WhatIfSetup {
            capacity_bytes: card.map(|card| card.capacity_bytes),
            elsewhere_bytes: card.map_or(0, |card| card.elsewhere_bytes),
            ..setup
        }
    }
}
