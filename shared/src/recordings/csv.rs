//! Writes the recordings of a sweep or a search as comma-separated values, according to RFC 4180.
//!
//! Sizes are in bytes, a cell without a value is empty, and steps count from 0 as in JSON.

use crate::api::{FitProbe, FitReport, OutOfMemory, RecordingReport, SweepReport, SweepRow};
use crate::export::csv_text;

/// Formats the rows of a sweep.
pub fn sweep_csv(report: &SweepReport) -> String {
    const HEAD: &str = "card,precision,checkpointing,sequence,batch,memory_bytes,steps,events,seconds,\
        peak_live_bytes,peak_allocated_bytes,peak_reserved_bytes,oom_step,oom_phase,oom_module,oom_operation,failure";
    let cells = |row: &SweepRow| {
        let recording = row.recording.as_ref();
        let choices = [row.card.clone(), row.precision.clone(), row.checkpointing.to_string()];
        let numbers = [row.sequence, Some(row.batch), row.memory_bytes].map(number);
        let run = recording.map_or_else(Default::default, |recording| {
            let RecordingReport { steps, events, seconds, .. } = *recording;
            let peaks = [recording.peak_live_bytes, recording.peak_allocated_bytes, recording.peak_reserved_bytes];
            let [live, allocated, reserved] = peaks.map(|bytes| bytes.to_string());
            [steps.to_string(), events.to_string(), format!("{seconds:.3}"), live, allocated, reserved]
        });
        let end = end(recording.and_then(|recording| recording.oom.as_ref()), row.failure.as_ref());
        choices.into_iter().chain(numbers).chain(run).chain(end).collect()
    };
    lines(HEAD, report.rows.iter().map(cells))
}

/// Formats the recordings of a search for the largest batch.
pub fn fit_csv(report: &FitReport) -> String {
    const HEAD: &str = "card,batch,memory_bytes,peak_allocated_bytes,peak_reserved_bytes,oom_step,oom_phase,oom_module,\
        oom_operation,failure";
    let cells = |probe: &FitProbe| {
        let peaks = [Some(probe.peak_allocated_bytes), Some(probe.peak_reserved_bytes)];
        let numbers = [Some(probe.batch), report.memory_bytes].into_iter().chain(peaks).map(number);
        let end = end(probe.oom.as_ref(), probe.failure.as_ref());
        [report.card.clone()].into_iter().chain(numbers).chain(end).collect()
    };
    lines(HEAD, report.probes.iter().map(cells))
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Formats how a recording ended.
fn end(oom: Option<&OutOfMemory>, failure: Option<&String>) -> [String; 5] {
    let word = |value: Option<&String>| value.cloned().unwrap_or_default();
    [
        number(oom.and_then(|oom| oom.step)),
        word(oom.map(|oom| &oom.phase)),
        word(oom.map(|oom| &oom.module)),
        word(oom.map(|oom| &oom.operation)),
        word(failure),
    ]
}

fn lines(head: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| cells.iter().map(|cell| csv_text(cell)).collect::<Vec<_>>().join(",");
    rows.map(line).fold(format!("{head}\r\n"), |text, line| text + &line + "\r\n")
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
        let text = sweep_csv(&SweepReport { name: String::new(), axes: Vec::new(), rows: vec![row] });
        text.lines().nth(1).unwrap().to_owned()
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let line = line("t4-16gb, t4-16gb", "it said \"no\"");
        assert_eq!(line, "\"t4-16gb, t4-16gb\",fp32,true,,8,1,,,,,,,,,,,\"it said \"\"no\"\"\"");
    }

    #[test]
    fn a_spreadsheet_finds_no_formula() {
        assert_eq!(line("t4-16gb", "=cmd|' /C calc'!A0"), "t4-16gb,fp32,true,,8,1,,,,,,,,,,,'=cmd|' /C calc'!A0");
    }

    #[test]
    fn every_line_has_the_cells_of_its_head() {
        let probe = FitProbe { batch: 4, peak_reserved_bytes: 7, ..FitProbe::default() };
        let report = FitReport { card: "t4-16gb".into(), probes: vec![probe], ..FitReport::default() };
        assert_eq!(fit_csv(&report).lines().nth(1), Some("t4-16gb,4,,0,7,,,,,"));
        assert!(fit_csv(&report).lines().all(|line| line.split(',').count() == 10));
    }
}
