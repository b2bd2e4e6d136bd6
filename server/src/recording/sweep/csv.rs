//! Formats a sweep as comma-separated values, with every figure as a number for spreadsheets.

use shared::api::{SweepReport, SweepRow};
use shared::export::csv_text;

const HEAD: &str = "card,precision,checkpointing,sequence,batch,memory_bytes,steps,events,seconds,\
    peak_live_bytes,peak_allocated_bytes,peak_reserved_bytes,oom_step,oom_phase,oom_module,oom_operation,failure\r\n";

/// Formats the rows of a sweep according to RFC 4180.
///
/// A cell without a value is empty, and steps count from 0 as in JSON.
pub fn csv(report: &SweepReport) -> String {
    report
        .rows
        .iter()
        .fold(HEAD.to_owned(), |text, row| text + &cells(row).map(|cell| csv_text(&cell)).join(",") + "\r\n")
}

fn cells(row: &SweepRow) -> [String; 17] {
    let recording = row.recording.as_ref();
    let oom = recording.and_then(|recording| recording.oom.as_ref());
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let word = |value: Option<&String>| value.cloned().unwrap_or_default();
    [
        row.card.clone(),
        row.precision.clone(),
        row.checkpointing.to_string(),
        number(row.sequence),
        row.batch.to_string(),
        number(row.memory_bytes),
        number(recording.map(|recording| recording.steps)),
        number(recording.map(|recording| recording.events)),
        recording.map_or_else(String::new, |recording| format!("{:.3}", recording.seconds)),
        number(recording.map(|recording| recording.peak_live_bytes)),
        number(recording.map(|recording| recording.peak_allocated_bytes)),
        number(recording.map(|recording| recording.peak_reserved_bytes)),
        number(oom.and_then(|oom| oom.step)),
        word(oom.map(|oom| &oom.phase)),
        word(oom.map(|oom| &oom.module)),
        word(oom.map(|oom| &oom.operation)),
        word(row.failure.as_ref()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line of a failed row.
    fn line(card: &str, failure: &str) -> String {
        let row = SweepRow {
            card: card.into(),
            precision: "fp32".into(),
            checkpointing: true,
            sequence: None,
            batch: 8,
            memory_bytes: Some(1),
            recording: None,
            failure: Some(failure.into()),
        };
        let text = csv(&SweepReport { name: String::new(), axes: Vec::new(), rows: vec![row] });
        text.lines().nth(1).unwrap().to_owned()
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let line = line("t4-16gb, t4-16gb", "it said \"no\"");
        assert_eq!(line, "\"t4-16gb, t4-16gb\",fp32,true,,8,1,,,,,,,,,,,\"it said \"\"no\"\"\"");
        assert_eq!(HEAD.split(',').count(), 17);
    }

    #[test]
    fn a_spreadsheet_finds_no_formula() {
        assert_eq!(line("t4-16gb", "=cmd|' /C calc'!A0"), "t4-16gb,fp32,true,,8,1,,,,,,,,,,,'=cmd|' /C calc'!A0");
    }
}
