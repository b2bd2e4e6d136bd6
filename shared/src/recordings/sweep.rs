//! Answers a sweep in one line.

use super::table::{distinct, value, varying};
use crate::api::{SweepReport, SweepRow};
use crate::base::format::{count, counted};

/// Number of answers above which each card has only its best.
const MOST_ANSWERS: usize = 8;

/// Returns the answer: `Largest batch that fits on t4-16gb: 8 with checkpointing, 2 without`.
///
/// A number without an out-of-memory error above it is `8 or more`, and what has only failed is `unknown`.
/// A sweep that varies no numbers says which combinations fit.
pub fn answer(report: &SweepReport) -> String {
    let rows = &report.rows;
    let failed = rows.iter().filter(|row| row.failure.is_some()).count();
    let note = match failed {
        0 => String::new(),
        failed => format!("; {} failed", counted(failed as u64, "recording")),
    };
    if failed < rows.len() && !rows.iter().any(fits) {
        return format!("Nothing fits{note}");
    }
    let number = ["batch", "sequence"].into_iter().find(|axis| varying(report).any(|other| other == *axis));
    let others: Vec<String> = varying(report).filter(|axis| axis != "card" && Some(axis.as_str()) != number).collect();
    let variants = distinct(rows.iter().map(|row| worded(row, &others)));
    let cards = distinct(rows.iter().map(|row| row.card.clone()));
    let is_each = cards.len() * variants.len() <= MOST_ANSWERS;
    let on_card = |(place, card): (usize, &String)| {
        let mut found: Vec<(Option<u64>, String)> = Vec::new();
        for variant in &variants {
            let same = rows.iter().filter(|row| row.card == *card && worded(row, &others) == *variant);
            let (largest, text) = largest(&same.collect::<Vec<_>>(), number);
            // Of two answers the first card tells the order.
            let is_named = place == 0 || !is_each || variants.len() > 2;
            found.push((largest, if is_named { text + variant } else { text }));
        }
        if !is_each && let Some(best) = found.iter().rev().max_by_key(|(largest, _)| *largest).cloned() {
            found = vec![best];
        }
        let texts: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
        format!("on {card}: {}", texts.join(", "))
    };
    let on_cards: Vec<String> = cards.iter().enumerate().map(on_card).collect();
    let heading = number.map_or_else(|| "Fits".to_owned(), |axis| format!("Largest {axis} that fits"));
    format!("{heading} {}{note}", on_cards.join("; "))
}

fn fits(row: &SweepRow) -> bool {
    row.recording.as_ref().is_some_and(|recording| recording.oom.is_none())
}

/// Returns the largest number among rows that differ only in it, and its text; 1 is `yes` where no number varies.
fn largest(rows: &[&SweepRow], number: Option<&str>) -> (Option<u64>, String) {
    let value = |row: &SweepRow| match number {
        Some("sequence") => row.sequence.unwrap_or(0),
        Some(_) => row.batch,
        None => 1,
    };
    let fitting = rows.iter().filter(|row| fits(row)).map(|row| value(row)).max();
    let is_bounded = rows.iter().any(|row| row.recording.is_some() && !fits(row) && Some(value(row)) > fitting);
    let is_unknown = rows.is_empty() || rows.iter().any(|row| row.failure.is_some());
    let text = match (fitting, number) {
        (Some(_), None) => "yes".to_owned(),
        (Some(largest), _) if is_bounded => count(largest),
        (Some(largest), _) => format!("{} or more", count(largest)),
        (None, _) if is_unknown => "unknown".to_owned(),
        (None, None) => "no".to_owned(),
        (None, _) => "none".to_owned(),
    };
    (fitting, text)
}

/// Formats what a row has on some axes, to follow a number: ` in fp32 with checkpointing`.
fn worded(row: &SweepRow, axes: &[String]) -> String {
    let word = |axis: &String| match axis.as_str() {
        "precision" => format!(" in {}", row.precision),
        "checkpointing" if row.checkpointing => " with checkpointing".to_owned(),
        "checkpointing" if axes.len() == 1 => " without".to_owned(),
        "checkpointing" => " without checkpointing".to_owned(),
        axis => format!(" at {axis} {}", value(row, axis)),
    };
    axes.iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::super::table::oom;
    use super::*;
    use crate::api::RecordingReport;

    fn recording(does_fit: bool) -> RecordingReport {
        RecordingReport {
            card: String::new(),
            steps: 2,
            events: 10,
            seconds: 1.0,
            peak_live_bytes: 1,
            peak_allocated_bytes: 1,
            peak_reserved_bytes: 1,
            oom: (!does_fit).then(oom),
        }
    }

    /// Returns a row from words such as `t4 on 8 fits`: card, checkpointing, batch, and `fits`, `oom` or `fails`.
    fn row(words: &str) -> SweepRow {
        let [card, checkpointing, batch, result] = words.split(' ').collect::<Vec<_>>()[..] else { panic!("{words}") };
        SweepRow {
            card: card.to_owned(),
            precision: "fp32".to_owned(),
            checkpointing: checkpointing == "on",
            sequence: None,
            batch: batch.parse().unwrap(),
            memory_bytes: Some(1 << 30),
            recording: (result != "fails").then(|| recording(result == "fits")),
            failure: (result == "fails").then(|| "the recorder was killed".to_owned()),
        }
    }

    fn report(rows: &[&str]) -> SweepReport {
        let axes = ["card", "precision", "checkpointing", "sequence", "batch"].map(str::to_owned).to_vec();
        SweepReport { name: String::new(), axes, rows: rows.iter().map(|words| row(words)).collect() }
    }

    #[track_caller]
    fn check(rows: &[&str], expected: &str) {
        assert_eq!(answer(&report(rows)), expected);
    }

    #[test]
    fn the_largest_batch_is_told() {
        check(&["t4 on 2 fits", "t4 on 4 fits", "t4 on 8 oom"], "Largest batch that fits on t4: 4");
        check(&["t4 on 2 fits", "t4 on 1024 fits"], "Largest batch that fits on t4: 1,024 or more");
        check(&["t4 on 2 oom", "t4 on 4 oom"], "Nothing fits");
        // A smaller batch may fail where a larger one fits.
        check(&["t4 on 2 oom", "t4 on 4 fits", "t4 on 8 oom"], "Largest batch that fits on t4: 4");
    }

    #[test]
    fn cards_stand_beside_each_other() {
        let rows = ["t4 on 2 oom", "t4 on 4 oom", "l4 on 2 fits", "l4 on 4 oom", "h100 on 2 fits", "h100 on 4 fits"];
        check(&rows, "Largest batch that fits on t4: none; on l4: 2; on h100: 4 or more");
    }

    #[test]
    fn another_choice_is_named_once() {
        let both = ["t4 on 4 fits", "t4 on 8 oom", "t4 off 4 oom", "t4 off 8 oom"];
        check(&both, "Largest batch that fits on t4: 4 with checkpointing, none without");
        let cards = ["l4 on 4 fits", "l4 on 8 fits", "l4 off 4 fits", "l4 off 8 oom"];
        let told = "Largest batch that fits on t4: 4 with checkpointing, none without; on l4: 8 or more, 4";
        check(&[both, cards].concat(), told);
    }

    #[test]
    fn two_choices_are_named_at_each_number() {
        let rows = ["t4 on 1 fits", "t4 on 2 oom", "t4 off 1 fits", "t4 off 2 oom"];
        let mut report = report(&[rows, rows].concat());
        report.rows[4..].iter_mut().for_each(|row| row.precision = "bf16".to_owned());
        let told = "Largest batch that fits on t4: 1 in fp32 with checkpointing, 1 in fp32 without checkpointing, \
                    1 in bf16 with checkpointing, 1 in bf16 without checkpointing";
        assert_eq!(answer(&report), told);
    }

    #[test]
    fn many_answers_leave_the_best_of_each_card() {
        let rows: Vec<String> = ["a", "b", "c", "d", "e"]
            .iter()
            .flat_map(|card| ["on 1 fits", "on 2 oom", "off 1 fits", "off 2 fits"].map(|rest| format!("{card} {rest}")))
            .collect();
        let told = answer(&report(&rows.iter().map(String::as_str).collect::<Vec<_>>()));
        let expected = "Largest batch that fits on a: 2 or more without; on b: 2 or more without;";
        assert!(told.starts_with(expected), "{told}");
    }

    #[test]
    fn failures_leave_the_answer_open() {
        let rows = ["t4 on 2 fits", "t4 on 4 fails", "l4 on 2 fails", "l4 on 4 oom"];
        check(&rows, "Largest batch that fits on t4: 2 or more; on l4: unknown; 2 recordings failed");
        check(&["t4 on 2 fails", "t4 on 4 fails"], "Largest batch that fits on t4: unknown; 2 recordings failed");
        check(&["t4 on 2 fails", "t4 on 4 oom"], "Nothing fits; 1 recording failed");
    }

    #[test]
    fn rows_that_are_still_missing_are_unknown() {
        let rows = ["t4 on 2 fits", "t4 on 4 oom", "t4 off 2 fits", "t4 off 4 oom", "l4 on 2 fits"];
        let told = "Largest batch that fits on t4: 2 with checkpointing, 2 without; on l4: 2 or more, unknown";
        check(&rows, told);
    }

    #[test]
    fn without_numbers_combinations_fit_or_not() {
        check(&["t4 on 8 oom", "l4 on 8 fits"], "Fits on t4: no; on l4: yes");
        check(&["t4 on 8 fits", "t4 off 8 oom"], "Fits on t4: yes with checkpointing, no without");
        let mut report = report(&["t4 on 8 fits", "t4 on 8 oom"]);
        report.rows.iter_mut().zip([512, 1024]).for_each(|(row, sequence)| row.sequence = Some(sequence));
        assert_eq!(answer(&report), "Largest sequence that fits on t4: 512");
    }
}
