//! Converts the outcomes of a sweep to the form that scripts read, and that to comma-separated values.

use shared::api::{SweepReport, SweepRow};
use shared::export::csv_text;
use shared::job::{Combination, Device, Job, Sweep};

use super::Outcome;

/// Builds the report of a sweep.
pub fn report(name: &str, sweep: &Sweep, outcomes: &[Outcome]) -> SweepReport {
    let rows = sweep.combinations.iter().zip(outcomes);
    SweepReport {
        name: name.to_owned(),
        axes: sweep.axes.iter().map(|axis| axis.name.to_owned()).collect(),
        rows: rows.map(|(combination, outcome)| row(combination, outcome)).collect(),
    }
}

fn row(Combination { job, .. }: &Combination, outcome: &Outcome) -> SweepRow {
    let raw = job.to_raw();
    SweepRow {
        card: raw.card.or(raw.device).unwrap_or_default(),
        precision: raw.precision.unwrap_or_default(),
        checkpointing: job.checkpointing,
        sequence: raw.sequence,
        batch: job.batch,
        memory_bytes: memory_bytes(job, outcome),
        recording: outcome.as_ref().ok().map(|recording| recording.report()),
        failure: outcome.as_ref().err().map(|failure| failure.message.clone()),
    }
}

/// Returns the total memory of the first card; a real card's is known only from its recording.
pub(super) fn memory_bytes(job: &Job, outcome: &Outcome) -> Option<u64> {
    match &job.device {
        Device::Virtual(cards) => cards.0.first().map(|card| card.memory_bytes),
        Device::Cuda(_) => Some(outcome.as_ref().ok()?.started.as_ref()?.memory_bytes),
    }
}

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
