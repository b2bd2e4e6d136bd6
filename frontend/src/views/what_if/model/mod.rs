//! Texts and numbers of the What-if tab.

mod conf;
mod course;
mod figures;
mod plot;
mod sweep;

pub use conf::{FIELDS, Field, FieldKind, environment, option, refusal, with_option};
pub use course::{column_at, fragmentation, moved, occurring, reading, stalls};
pub use figures::{FigureRow, figure_rows, notes, summary};
pub use plot::plot;
pub use sweep::{SweepRow, advised, answer, findings, is_enough, sweep_rows};

use crate::ask::{RecordedSetup, WhatIfSetup};
use shared::analysis::CONTEXT_BYTES;
use shared::base::format;
use shared::job::Card;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardOption {
    pub label: String,
    /// Memory of the card; `None` for unlimited memory.
    pub capacity_bytes: Option<u64>,
    /// Part of the memory that is taken outside of PyTorch's allocator.
    pub elsewhere_bytes: u64,
}

/// Returns the cards to choose from: unlimited, the recording's if known, and all named cards.
pub fn cards(recorded: &RecordedSetup) -> Vec<CardOption> {
    let unlimited = CardOption { label: "No limit".to_owned(), capacity_bytes: None, elsewhere_bytes: 0 };
    let as_recorded = recorded.capacity_bytes.map(|capacity_bytes| CardOption {
        label: format!("As recorded, {}", format::bytes(capacity_bytes)),
        capacity_bytes: Some(capacity_bytes),
        elsewhere_bytes: 0,
    });
    let named = Card::all().map(|card| CardOption {
        label: format!("{}, {}", card.name, format::bytes(card.memory_bytes)),
        capacity_bytes: Some(card.memory_bytes),
        elsewhere_bytes: CONTEXT_BYTES,
    });
    std::iter::once(unlimited).chain(as_recorded).chain(named).collect()
}

/// Returns the cards to choose from, and the position of a setup's card.
///
/// A card that is not among the others is appended.
pub fn cards_with(recorded: &RecordedSetup, setup: &WhatIfSetup) -> (Vec<CardOption>, usize) {
    let mut options = cards(recorded);
    let WhatIfSetup { capacity_bytes, elsewhere_bytes, .. } = *setup;
    let is_same = |card: &CardOption| card.capacity_bytes == capacity_bytes;
    let exact = options.iter().position(|card| is_same(card) && card.elsewhere_bytes == elsewhere_bytes);
    let chosen = exact.or_else(|| options.iter().position(is_same)).unwrap_or(options.len());
    if let (true, Some(size_bytes)) = (chosen == options.len(), capacity_bytes) {
        options.push(CardOption { label: format::bytes(size_bytes), capacity_bytes, elsewhere_bytes });
    }
    (options, chosen)
}

pub fn first_setup(recorded: &RecordedSetup) -> WhatIfSetup {
    WhatIfSetup { conf: recorded.conf.clone(), capacity_bytes: recorded.capacity_bytes, elsewhere_bytes: 0 }
}

pub fn file_name(setup: &WhatIfSetup) -> String {
    let conf = if setup.conf.is_empty() { "default settings" } else { &setup.conf };
    format!("replay, {conf}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_without_a_limit_has_no_card_of_its_own() {
        let plain = cards(&RecordedSetup::default());
        let full = RecordedSetup { capacity_bytes: Some(2 << 30), ..RecordedSetup::default() };
        let limited = cards(&full);
        assert_eq!(limited.len(), plain.len() + 1);
        assert_eq!(limited[1].label, "As recorded, 2.00 GiB");
        assert_eq!(cards_with(&full, &first_setup(&full)).1, 1);
        assert_eq!(cards_with(&RecordedSetup::default(), &first_setup(&RecordedSetup::default())).1, 0);
        assert_eq!(plain[0].capacity_bytes, None);
        assert!(plain[1..].iter().all(|card| card.elsewhere_bytes == CONTEXT_BYTES));
    }

    #[test]
    fn a_card_without_a_name_can_be_the_chosen_one() {
        let setup = |capacity_bytes, elsewhere_bytes| WhatIfSetup {
            capacity_bytes: Some(capacity_bytes),
            elsewhere_bytes,
            ..WhatIfSetup::default()
        };
        let (options, chosen) = cards_with(&RecordedSetup::default(), &setup(48 << 30, CONTEXT_BYTES));
        assert_eq!((options[chosen].label.as_str(), chosen), ("48.0 GiB", options.len() - 1));
        // A recording that filled as much as a card has was not necessarily made on that card.
        let t4 = cards(&RecordedSetup::default())[1].capacity_bytes;
        let full = RecordedSetup { capacity_bytes: t4, ..RecordedSetup::default() };
        let label = |elsewhere_bytes| {
            let (options, chosen) = cards_with(&full, &setup(t4.unwrap(), elsewhere_bytes));
            options[chosen].label.clone()
        };
        assert!(label(0).starts_with("As recorded") && label(CONTEXT_BYTES).starts_with("t4-16gb"));
    }

    #[test]
    fn a_replay_is_named_by_its_settings() {
        assert_eq!(file_name(&WhatIfSetup::default()), "replay, default settings");
    }
}
