//! Tells the largest batch that fits, and the recordings that prove it.

use super::table::{Table, result, where_it_ran_out};
use crate::api::{FitProbe, FitReport, FitRow};
use crate::base::format::{bytes, count, percent};

/// Returns the answer in one line: `Batch 13 is the largest that fits`.
pub fn answer(report: &FitReport) -> String {
    if let Some(frontier) = &report.frontier {
        let [first, second] = [report.variable.as_deref().unwrap_or_default(), &frontier.variable].map(heading);
        return format!("The largest {first} that fits, by {second}");
    }
    match (report.batch, &report.variable) {
        (Some(batch), None) => format!("Batch {} is the largest that fits", count(batch)),
        (None, None) => "No batch fits".to_owned(),
        (Some(batch), Some(_)) => of_script(report, batch),
        (None, Some(_)) => {
            format!("{} does not fit", named(report, report.probes.first().map_or(1, |probe| probe.batch)))
        }
    }
}

/// Answers for a script, whose search may have ended early or for another reason than memory.
fn of_script(report: &FitReport, largest: u64) -> String {
    let name = named(report, largest);
    match next_failing(&report.probes, report.batch) {
        Some(next) if next.batch > largest + 1 => format!("{name} fits, and {} does not", named(report, next.batch)),
        Some(next) if next.failure.is_some() => format!("{name} is the largest that the script runs with, and it fits"),
        None if report.limit.is_none() => format!("{name} fits, and nothing larger was tried"),
        _ => format!("{name} is the largest that fits"),
    }
}

/// Names a value as the command of a script has it, or a batch of a config.
pub fn named(report: &FitReport, value: u64) -> String {
    match &report.variable {
        Some(words) => words.replace("{}", &value.to_string()),
        None => format!("batch {}", count(value)),
    }
}

/// Returns the words around a placeholder without it: `--batch-size` of `--batch-size={}`.
fn heading(words: &str) -> String {
    words.strip_suffix("{}").unwrap_or(words).trim_end_matches([' ', '=']).to_owned()
}

/// Returns a row for the largest batch that fits and a row for the next larger batch that does not.
pub fn proof(report: &FitReport, steps: u64) -> Vec<Vec<String>> {
    let fitting = report.probes.iter().find(|probe| Some(probe.batch) == report.batch);
    let failing = next_failing(&report.probes, report.batch);
    let name = report.variable.as_deref().map_or_else(|| "batch".to_owned(), heading);
    let row = |probe: &FitProbe, text: String| vec![name.clone(), count(probe.batch), text];
    let fits = |probe: &FitProbe| {
        let peak = probe.peak_reserved_bytes;
        let memory = report
            .memory_bytes
            .map(|memory| format!(" of {}, {} free", bytes(memory), bytes(memory.saturating_sub(peak))));
        row(probe, format!("fits: peak reserved {}{}", bytes(peak), memory.unwrap_or_default()))
    };
    let fails = |probe: &FitProbe| row(probe, failed(probe, steps));
    fitting.map(fits).into_iter().chain(failing.map(fails)).collect()
}

fn next_failing(probes: &[FitProbe], largest: Option<u64>) -> Option<&FitProbe> {
    probes.iter().find(|probe| probe.batch > largest.unwrap_or(0))
}

/// Says why a batch does not fit.
fn failed(probe: &FitProbe, steps: u64) -> String {
    if let Some(failure) = &probe.failure {
        return format!("fails: {failure}");
    }
    let place = probe.oom.as_ref().map(|oom| format!(" {}", where_it_ran_out(oom, steps)));
    let asked = probe.oom.as_ref().and_then(|oom| asked(&oom.message)).map(|asked| format!(", allocating {asked}"));
    format!("runs out of memory{}{}", place.unwrap_or_default(), asked.unwrap_or_default())
}

/// Builds the table of two placeholders: the largest value of the first for each value of the second.
pub fn frontier(report: &FitReport, steps: u64) -> Option<Table> {
    let frontier = report.frontier.as_ref()?;
    let [first, second] = [report.variable.as_deref()?, &frontier.variable].map(heading);
    let row = |(place, row): (usize, &FitRow)| {
        let fitting = row.probes.iter().find(|probe| Some(probe.batch) == row.batch);
        let peak = fitting.map(|probe| probe.peak_reserved_bytes);
        let is_as_before = place > 0 && row.batch == frontier.rows[place - 1].batch;
        let next = match next_failing(&row.probes, row.batch) {
            Some(probe) => format!("{} {}", count(probe.batch), failed(probe, steps)),
            None if is_as_before => "larger ones do not fit with less".to_owned(),
            None => "is the end of the range".to_owned(),
        };
        vec![
            count(row.value),
            row.batch.map_or_else(|| "none".to_owned(), count),
            row.batch.map_or_else(String::new, |batch| count(batch.saturating_mul(row.value))),
            peak.map_or_else(String::new, bytes),
            peak.zip(report.memory_bytes).map_or_else(String::new, |(peak, memory)| percent(peak, memory)),
            next,
        ]
    };
    let head = [&second, &first, "product", "peak reserved", "of the GPU", "the next"].map(str::to_owned).to_vec();
    Some(Table { head, rows: frontier.rows.iter().enumerate().map(row).collect(), right: vec![0, 1, 2, 3, 4] })
}

/// Builds the table of all recordings of the search, by batch.
pub fn probes(report: &FitReport, steps: u64) -> Table {
    let head = ["batch", "peak allocated", "peak reserved", "of the GPU", "result"].map(str::to_owned).to_vec();
    let row = |probe: &FitProbe| {
        let share = report.memory_bytes.map_or_else(String::new, |memory| percent(probe.peak_reserved_bytes, memory));
        vec![
            count(probe.batch),
            bytes(probe.peak_allocated_bytes),
            bytes(probe.peak_reserved_bytes),
            share,
            result(None, probe.oom.as_ref(), steps),
        ]
    };
    Table { head, rows: report.probes.iter().map(row).collect(), right: vec![0, 1, 2, 3] }
}

/// Extracts the requested size from PyTorch's message: `Tried to allocate 1.53 GiB. GPU 0 has …`.
fn asked(message: &str) -> Option<String> {
    let rest = message.split_once("Tried to allocate ")?.1;
    let words: Vec<&str> = rest.split_whitespace().take(2).collect();
    (words.len() == 2).then(|| words.join(" ").trim_end_matches('.').to_owned())
}

/// Returns the caveats of the answer.
pub fn notes(report: &FitReport) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(limit) = report.limit {
        let why = match report.variable {
            Some(_) => "ends the range",
            None => "is the largest that this program accepts for this config",
        };
        notes.push(format!("{} {why}", named(report, limit)));
    }
    if !report.gaps.is_empty() {
        let gaps: Vec<String> = report.gaps.iter().map(|&gap| count(gap)).collect();
        notes.push(format!(
            "batch {} ran out of memory although a larger batch fits: memory is fragmented, so other smaller batches \
             may fail too",
            gaps.join(", ")
        ));
    }
    let fitting = report.probes.iter().find(|probe| Some(probe.batch) == report.batch);
    notes.extend(fitting.into_iter().flat_map(|probe| probe.messages.iter().cloned()));
    notes.extend(report.notes.iter().cloned());
    notes
}

#[cfg(test)]
mod tests {
    use super::super::table::oom;
    use super::*;

    fn probe(batch: u64) -> FitProbe {
        FitProbe { batch, peak_reserved_bytes: 1 << 30, ..FitProbe::default() }
    }

    fn report(probes: Vec<FitProbe>) -> FitReport {
        FitReport {
            name: "small".into(),
            card: "custom:2GiB".into(),
            memory_bytes: Some(2 << 30),
            batch: Some(16),
            limit: Some(16),
            gaps: vec![12, 14],
            probes,
            ..FitReport::default()
        }
    }

    #[test]
    fn a_message_says_what_was_asked_for() {
        let message = "CUDA out of memory. Tried to allocate 1.53 GiB. GPU 0 has a total capacity of 14.58 GiB";
        assert_eq!(asked(message).as_deref(), Some("1.53 GiB"));
        assert_eq!(asked("CUDA out of memory"), None);
    }

    #[test]
    fn odd_answers_are_explained() {
        let report = report(vec![probe(16)]);
        assert_eq!(answer(&report), "Batch 16 is the largest that fits");
        assert_eq!(proof(&report, 2), [["batch", "16", "fits: peak reserved 1.00 GiB of 2.00 GiB, 1.00 GiB free"]]);
        let notes = notes(&report);
        assert!(notes[0].starts_with("batch 16 is the largest that this program accepts"), "{notes:?}");
        assert!(notes[1].starts_with("batch 12, 14 ran out of memory although"), "{notes:?}");
    }

    #[test]
    fn every_recording_is_a_row() {
        let table = probes(&report(vec![probe(16), FitProbe { oom: Some(oom()), ..probe(17) }]), 2);
        assert_eq!(table.rows[0], ["16", "0 B", "1.00 GiB", "50 %", "fits"]);
        assert_eq!(table.rows[1][4], "out of memory in step 1 of 2, forward");
    }
}
