//! Words and numbers of the What if view.

mod conf;
mod course;
mod figures;
mod plot;
mod sweep;

pub use conf::{FIELDS, Field, FieldKind, environment, option, refusal, variable, with_option};
pub use course::{Course, course, moved, reading};
pub use figures::{FigureRow, Verdict, figure_rows, notes, summary};
pub use plot::{HEIGHT, Plot, WIDTH, plot, sketch};
pub use sweep::{SweepRow, findings, sweep_rows};

use crate::worker::{RecordedSetup, WhatIfSetup};
use shared::base::format;
use shared::job::Card;

/// What of a card's memory others take where nothing is recorded: the context and libraries, 512 MiB.
const ELSEWHERE_BYTES: u64 = 512 << 20;

/// One card to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardOption {
    /// What is shown.
    pub label: String,
    /// Its memory, `None` for one that nothing fills.
    pub capacity_bytes: Option<u64>,
    /// What of it others take.
    pub elsewhere_bytes: u64,
}

/// The cards to choose from: none, what the recording had where it tells, and all that have a name.
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
        elsewhere_bytes: ELSEWHERE_BYTES,
    });
    std::iter::once(unlimited).chain(as_recorded).chain(named).collect()
}

/// The position of the card of a setup among the options.
pub fn chosen_card(options: &[CardOption], setup: &WhatIfSetup) -> usize {
    options.iter().position(|card| card.capacity_bytes == setup.capacity_bytes).unwrap_or(0)
}

/// The setup that the view begins with: what was recorded.
pub fn first_setup(recorded: &RecordedSetup) -> WhatIfSetup {
    WhatIfSetup { conf: recorded.conf.clone(), capacity_bytes: recorded.capacity_bytes, elsewhere_bytes: 0 }
}

/// The name of a replay as a file.
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
        assert_eq!(chosen_card(&limited, &first_setup(&full)), 1);
        assert_eq!(chosen_card(&plain, &first_setup(&RecordedSetup::default())), 0);
        assert_eq!(plain[0].capacity_bytes, None);
        assert!(plain[1..].iter().all(|card| card.elsewhere_bytes == ELSEWHERE_BYTES));
    }

    #[test]
    fn a_replay_is_named_by_its_settings() {
        assert_eq!(file_name(&WhatIfSetup::default()), "replay, default settings");
    }
}
