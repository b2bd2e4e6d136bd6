//! Texts and numbers of the memory that stays after steps, and of the choice of a card.

use crate::ask::RecordedSetup;
use crate::state::ThisCard;
use crate::views::what_if::model::{CardOption, cards};
use shared::analysis::{ClassTotal, GrowthClass};
use shared::base::format;

/// Memory that stays for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowthLine {
    /// Name of the reason.
    pub name: &'static str,
    /// Explanation of the reason: a sentence without its full stop.
    pub hint: &'static str,
    /// Bytes at the end of the last step.
    pub end: String,
    /// Rise per step, or a dash if there is none.
    pub per_step: String,
    /// First and last step with a rise, counted from 1.
    pub when: String,
    /// True if the growth continues.
    pub is_leak: bool,
}

/// Returns the line for one reason why memory stays.
pub fn growth_line(row: &ClassTotal) -> GrowthLine {
    let hint = match row.class {
        GrowthClass::Leak => "It grows until the end of the trace",
        GrowthClass::OptimizerState => "The optimizer allocates it in its first update: not a leak",
        GrowthClass::WarmUp => "It was allocated in the first steps and has not grown since: not a leak",
        GrowthClass::Cache => "It fills up, or rises and falls below a limit: not a leak, as far as the trace shows",
        GrowthClass::OneOff => "It was allocated once in a later step: not a leak, as far as the trace shows",
    };
    let (first, last) = (row.first_rise + 1, row.last_rise + 1);
    GrowthLine {
        name: row.class.words(),
        hint,
        end: format::bytes(row.end_bytes),
        per_step: if row.bytes_per_step > 0 {
            format!("+{}", format::bytes(row.bytes_per_step))
        } else {
            "–".to_owned()
        },
        when: if first == last { first.to_string() } else { format!("{first}–{last}") },
        is_leak: row.class == GrowthClass::Leak,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardLine {
    pub label: String,
    /// The card; `None` if it is unknown.
    pub card: Option<ThisCard>,
}

/// Returns the options for the card: unknown, the recording's, all named cards, and the chosen one if it is none of
/// these.
pub fn card_options(recorded_bytes: Option<u64>, chosen: Option<ThisCard>) -> Vec<CardLine> {
    let recorded = RecordedSetup { capacity_bytes: recorded_bytes, ..RecordedSetup::default() };
    let of_option = |option: CardOption| {
        let elsewhere_bytes = option.elsewhere_bytes;
        let card = option.capacity_bytes.map(|capacity_bytes| ThisCard { capacity_bytes, elsewhere_bytes });
        let label = if card.is_none() { "unknown".to_owned() } else { option.label };
        CardLine { label, card }
    };
    let mut lines: Vec<CardLine> = cards(&recorded).into_iter().map(of_option).collect();
    // The chosen card may be that of another device's recording.
    if let Some(card) = chosen.filter(|_| lines.iter().all(|line| line.card != chosen)) {
        lines.push(CardLine { label: format::bytes(card.capacity_bytes), card: chosen });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_count_steps_from_one() {
        let row = |class, bytes_per_step, first_rise, last_rise| ClassTotal {
            class,
            bytes_per_step,
            end_bytes: 2 << 20,
            end_count: 1,
            groups: 1,
            first_rise,
            last_rise,
        };
        let rows = [row(GrowthClass::Leak, 1 << 20, 0, 8), row(GrowthClass::OptimizerState, 0, 0, 0)];
        let lines = rows.each_ref().map(growth_line);
        let written: Vec<_> =
            lines.iter().map(|line| (line.name, line.per_step.as_str(), line.when.as_str())).collect();
        assert_eq!(written, [("grows", "+1.00 MiB", "1–9"), ("optimizer state", "–", "1")]);
        assert_eq!((lines[0].is_leak, lines[1].is_leak), (true, false));
    }

    #[test]
    fn the_chosen_card_is_among_the_options() {
        let card = |capacity_bytes| Some(ThisCard { capacity_bytes, elsewhere_bytes: 0 });
        let plain = card_options(None, None);
        assert_eq!((plain[0].label.as_str(), plain[0].card), ("unknown", None));
        assert!(plain.iter().any(|line| line.label.starts_with("t4-16gb")));
        let recorded = card_options(Some(3 << 30), card(3 << 30));
        assert_eq!(recorded.len(), plain.len() + 1);
        let other = card_options(Some(3 << 30), card(2 << 30));
        assert_eq!(other.last().map(|line| (line.label.as_str(), line.card)), Some(("2.00 GiB", card(2 << 30))));
    }
}
