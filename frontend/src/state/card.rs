//! The card that a file is looked at on.

use crate::worker::WhatIfSetup;

/// What of a card's memory others take where nothing is recorded: the context and libraries, 512 MiB.
pub const ELSEWHERE_BYTES: u64 = 512 << 20;

/// The card that a file is looked at on: for what if, for when it is full, and as a line in the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThisCard {
    /// Its memory.
    pub capacity_bytes: u64,
    /// What of it others take in a replay.
    pub elsewhere_bytes: u64,
}

impl ThisCard {
    /// The card of a replay, `None` for one of any size.
    pub fn of(setup: &WhatIfSetup) -> Option<Self> {
        let WhatIfSetup { capacity_bytes, elsewhere_bytes, .. } = *setup;
        capacity_bytes.map(|capacity_bytes| Self { capacity_bytes, elsewhere_bytes })
    }

    /// A whole card, of whose memory others take the usual part.
    pub fn whole(capacity_bytes: u64) -> Self {
        Self { capacity_bytes, elsewhere_bytes: ELSEWHERE_BYTES }
    }

    /// The same settings on a card.
    pub fn put(card: Option<Self>, setup: WhatIfSetup) -> WhatIfSetup {
        WhatIfSetup {
            capacity_bytes: card.map(|card| card.capacity_bytes),
            elsewhere_bytes: card.map_or(0, |card| card.elsewhere_bytes),
            ..setup
        }
    }
}
