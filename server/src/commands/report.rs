//! Implements `snapscope report`, which sums files up for a chat or an issue, and attaches a sanitized snapshot.

use std::path::{Path, PathBuf};

use clap::Args;
use logs::Content;
use logs::log_report;
use shared::analysis::studies;
use shared::base::Severity;
use shared::base::format::bytes;
use shared::export::{SanitizeOptions, Sanitized};
use shared::pickle::Style;
use shared::report::{Diagnosis, DiagnosisConfig, Finding, diagnosis};

use super::export::{left_out, write};
use super::named;
use super::open::{memory_line, nothing_of_interest};
use super::output::Output;
use super::range::EventRange;
use crate::Failure;
use crate::snapshot_file::{self, Opened};

const MOST_FINDINGS: usize = 3;

/// Most bytes of an attached file: GitHub takes 25 MB.
const MOST_ATTACHED: u64 = 25_000_000;

/// The options of `snapscope report`.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// Snapshots and logs; a folder stands for its files
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Also write a sanitized copy of the snapshot to this file, such as memory.pickle.gz; if it is larger than the 25 MB
    /// that issue trackers take, only the events around the peak
    #[arg(long, value_name = "FILE")]
    attach: Option<PathBuf>,
}

impl ReportArgs {
    /// Reads the files and returns a card in Markdown for each; an unreadable file does not stop the others.
    pub fn run(&self) -> Result<Output, Failure> {
        let (mut cards, mut unread) = (Vec::new(), Vec::new());
        for file in named::files(&self.files)? {
            match card(&file.path) {
                Ok(card) => cards.push(card),
                Err(failure) if file.is_of_folder && self.files.len() == 1 => drop(failure),
                Err(failure) => unread.push(failure),
            }
        }
        if cards.is_empty() && unread.is_empty() {
            return Err(nothing_of_interest());
        }
        let mut output = Output::without(&unread, cards.join("\n"), 0);
        match (&self.attach, self.files.as_slice()) {
            (None, _) => (),
            (Some(copy), [file]) if file.is_file() => output.stderr += &attach(file, copy, MOST_ATTACHED)?,
            _ => return Err(Failure::new("--attach takes one snapshot", "pass one file")),
        }
        Ok(output)
    }
}

/// Sums a file up: what it is, on which device, with which figures, and the first findings with their first steps.
fn card(path: &Path) -> Result<String, Failure> {
    let name = named::name_of(path);
    let (facts, diagnosis, word) = match snapshot_file::open(path)? {
        Content::Snapshot(opened) => {
            let devices: Vec<_> = opened.devices().collect();
            let diagnosis = diagnosis(&opened.trace, &studies(&opened.trace, &devices), &DiagnosisConfig::default());
            let runs = diagnosis.runs.iter().map(|run| run.headline.clone());
            let used = devices.iter().filter(|(_, timeline)| timeline.reserved_peak().1 > 0);
            let lines = used.map(|(device, timeline)| memory_line(&opened, device, timeline));
            (runs.chain(lines).collect(), diagnosis, opened.device_word())
        }
        Content::Log(log) => {
            let report = log_report(&log);
            ([report.title].into_iter().chain(report.facts).collect::<Vec<_>>(), report.diagnosis, "GPU")
        }
    };
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("**Memory in `{name}`** (Snapscope {version})\n\n{}\n\n", facts.join("  \n"));
    findings(&diagnosis, word).iter().for_each(|line| text += &format!("- {line}\n"));
    Ok(text)
}

fn findings(diagnosis: &Diagnosis, word: &str) -> Vec<String> {
    let problems = diagnosis.findings.iter().filter(|finding| finding.severity > Severity::Info).count();
    // What is normal is told only where there is nothing else.
    let findings = &diagnosis.findings[..if problems > 0 { problems } else { diagnosis.findings.len() }];
    let line = |finding: &Finding| match finding.steps.first() {
        Some(step) => format!("{}. *{}*", finding.headline(word), step.text.trim_end_matches('.')),
        None => finding.headline(word),
    };
    let more = findings.len().saturating_sub(MOST_FINDINGS);
    let more = (more > 0).then(|| format!("and {more} more"));
    let lines = findings.iter().take(MOST_FINDINGS).map(line).chain(more);
    if findings.is_empty() { vec!["no problem found".to_owned()] } else { lines.collect() }
}

/// Writes a sanitized copy of at most `most` bytes, and returns what it leaves out.
fn attach(file: &Path, copy: &Path, most: u64) -> Result<String, Failure> {
    if copy.extension().is_none_or(|ending| ending != "gz") {
        let hint = "choose a name that ends in .pickle.gz, which issue trackers take";
        return Err(Failure::new(format!("{} would not be compressed", copy.display()), hint));
    }
    let mut opened = Opened::read(file)?;
    let mut events = opened.devices().map(|(device, _)| device.events.len() as u64).max().unwrap_or(0);
    loop {
        let sanitized = Sanitized::new(&opened.trace, &SanitizeOptions::default());
        let written = write::write(copy, |sink| sanitized.pickle(Style::Python, sink, |_| ()));
        let size = written.map_err(|error| {
            Failure::new(format!("{}: {error}", copy.display()), "choose another file or make room on the disk")
        })?;
        if size <= most || events < 2 {
            let left_out = left_out::report(sanitized.report());
            return Ok(format!("Attach {} ({}) to the issue\n{left_out}", copy.display(), bytes(size)));
        }
        drop(sanitized);
        // A little less than its share, since what does not depend on the events takes room, too.
        events = (events as f64 * 0.9 * most as f64 / size as f64) as u64;
        opened = EventRange::around_peak(events).open(file, None)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::Summary;

    #[test]
    fn a_folder_without_recordings_is_told() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("train.py"), "x = 1\n").unwrap();
        let failure = ReportArgs { files: vec![folder.path().to_owned()], attach: None }.run().unwrap_err();
        assert_eq!(failure.message, "the folder has no snapshots and no logs");
    }

    #[test]
    fn a_copy_that_is_too_large_keeps_the_events_around_the_peak() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/mistakes/batch_scoring.pickle.gz");
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("memory.pickle.gz");
        let copied = |most: u64| {
            attach(&file, &copy, most).unwrap();
            let opened = Opened::read(&copy).unwrap();
            let (device, timeline) = opened.choose_device(None).unwrap();
            let Summary { events, peak_live_bytes, .. } = Summary::of(device, timeline);
            (events, peak_live_bytes, copy.metadata().unwrap().len())
        };
        let (events, peak_live_bytes, size) = copied(MOST_ATTACHED);
        let (fewer, same_peak, smaller) = copied(size * 3 / 4);
        assert!(0 < fewer && fewer < events && smaller <= size * 3 / 4, "{fewer} of {events}, {smaller} of {size} B");
        assert_eq!(same_peak, peak_live_bytes);
        assert!(attach(&file, &folder.path().join("memory.pickle"), MOST_ATTACHED).is_err());
    }
}
