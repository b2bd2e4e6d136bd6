//! Formats a sweep as a table for people, and names places in a run.

use crate::api::{OutOfMemory, SweepReport, SweepRow};
use crate::base::format::{bytes, percent};

/// A table of formatted cells with a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns.
    pub head: Vec<String>,
    /// Rows with as many cells as the header.
    pub rows: Vec<Vec<String>>,
    /// Indices of columns with figures, which are right-aligned.
    pub right: Vec<usize>,
}

/// Builds the table of a sweep: varying values, three peaks, their share of the GPU's memory, and the result.
pub fn table(report: &SweepReport, steps: u64) -> Table {
    const FIGURES: [&str; 4] = ["peak live", "peak allocated", "peak reserved", "of the GPU"];
    let axes = report.axes.iter().map(String::as_str);
    let head = axes.chain(FIGURES).chain(["result"]).map(str::to_owned);
    let is_figure = |&(_, name): &(usize, &String)| !matches!(name.as_str(), "card" | "precision" | "checkpointing");
    let head: Vec<_> = head.collect();
    let right = head[..head.len() - 1].iter().enumerate().filter(is_figure).map(|(column, _)| column).collect();
    let rows = report.rows.iter().map(|row| {
        let axes = report.axes.iter().map(|axis| value(row, axis));
        let oom = row.recording.as_ref().and_then(|recording| recording.oom.as_ref());
        axes.chain(figures(row)).chain([result(row.failure.as_deref(), oom, steps)]).collect()
    });
    Table { rows: rows.collect(), head, right }
}

/// Formats the value of a row on an axis: `on` or `off` for a switch.
pub fn value(row: &SweepRow, axis: &str) -> String {
    match axis {
        "card" => row.card.clone(),
        "precision" => row.precision.clone(),
        "checkpointing" => if row.checkpointing { "on" } else { "off" }.to_owned(),
        "sequence" => row.sequence.map_or_else(String::new, |sequence| sequence.to_string()),
        _ => row.batch.to_string(),
    }
}

/// Returns the axes with more than one value.
pub(super) fn varying(report: &SweepReport) -> impl Iterator<Item = String> {
    report.axes.iter().filter(|axis| distinct(report.rows.iter().map(|row| value(row, axis))).len() > 1).cloned()
}

/// Returns each text once, in order of first appearance.
pub(super) fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    texts.fold(Vec::new(), |mut seen, text| {
        if !seen.contains(&text) {
            seen.push(text);
        }
        seen
    })
}

fn figures(row: &SweepRow) -> [String; 4] {
    let Some(recording) = &row.recording else { return [const { String::new() }; 4] };
    let share = row.memory_bytes.map_or_else(String::new, |memory| percent(recording.peak_reserved_bytes, memory));
    let peaks = [recording.peak_live_bytes, recording.peak_allocated_bytes, recording.peak_reserved_bytes];
    let [live, allocated, reserved] = peaks.map(bytes);
    [live, allocated, reserved, share]
}

/// Formats the result of a recording.
pub(super) fn result(failure: Option<&str>, oom: Option<&OutOfMemory>, steps: u64) -> String {
    match (failure, oom) {
        (Some(failure), _) => format!("failed: {failure}"),
        (None, Some(oom)) => format!("out of memory {}", where_it_ran_out(oom, steps)),
        (None, None) => "fits".to_owned(),
    }
}

impl Table {
    /// Formats the table in Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            format!("| {} |\n", cells.iter().map(|cell| escaped(cell)).collect::<Vec<_>>().join(" | "))
        };
        let rule = |column| if self.right.contains(&column) { "--:" } else { "---" }.to_owned();
        let rules: Vec<String> = (0..self.head.len()).map(rule).collect();
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.head) + &line(&rules) + &rows
    }
}

/// Escapes characters that would end a cell or a line.
fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// Formats a place in a run; steps count from 1, and unknown parts are omitted.
pub fn place(step: Option<u64>, steps: Option<u64>, phase: &str, module: &str) -> String {
    let step = step.map(|step| match steps {
        Some(steps) => format!("step {} of {steps}", step + 1),
        None => format!("step {}", step + 1),
    });
    let parts = step.into_iter().chain([phase.to_owned(), module.to_owned()]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns an error in the forward pass of the first step.
#[cfg(test)]
pub(super) fn oom() -> OutOfMemory {
    let (message, module, operation) = (String::new(), String::new(), String::new());
    OutOfMemory { message, step: Some(0), phase: "forward".into(), module, operation }
}

/// Formats the place of an out-of-memory error as in `in step 1 of 3, forward, h.11.mlp`, or as the start.
pub(super) fn where_it_ran_out(oom: &OutOfMemory, steps: u64) -> String {
    let place = place(oom.step, Some(steps), &oom.phase, &oom.module);
    if place.is_empty() { "at the start".to_owned() } else { format!("in {place}") }
}
