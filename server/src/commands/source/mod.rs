//! Implements `snapscope source`, which shows the memory of source lines, and the lines themselves.

mod page;
mod sources;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::Args;
use shared::analysis::{CodeKind, Filter, Population, SourceConfig};
use shared::api::{OfFile, SourceDocument};
use shared::report::{SourceReport, source_report};

pub(super) use self::sources::Sources;
use self::sources::{Found, ends_like};
use super::range::EventRange;
use super::{output, peak};
use crate::Failure;
use crate::snapshot_file::Opened;

/// The options of `snapscope source`.
#[derive(Debug, Clone, Args)]
pub struct SourceArgs {
    /// The snapshot: a pickle of `_dump_snapshot`, gzipped or not, its JSON form, or an HTML page of `trace_plot`
    file: PathBuf,

    /// Quote the lines from the source files in this folder, which are found by the ends of their paths
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,

    /// Show only source files whose path ends like this, such as model.py or gpt2/model.py
    #[arg(long = "file", value_name = "NAME")]
    name: Option<String>,

    /// Show whole files instead of the lines around those with the most memory
    #[arg(long, requires = "source")]
    all: bool,

    /// The GPU index [default: the one with the highest peak]
    #[arg(long, value_name = "N")]
    device: Option<i64>,

    /// Show the memory that is live after this event instead of at the peak; -1 is the state before the first event
    #[arg(long, value_name = "EVENT", allow_negative_numbers = true, conflicts_with_all = ["from", "to"])]
    at: Option<i64>,

    /// Count the allocations from this event on, and show the peak from then on
    #[arg(long, value_name = "EVENT")]
    from: Option<u32>,

    /// Count the allocations up to this event, and show the peak until then
    #[arg(long, value_name = "EVENT")]
    to: Option<u32>,

    /// Number of lines to print, or to quote with the lines around them
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    #[command(flatten)]
    events: EventRange,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl SourceArgs {
    /// Reads the file and returns the text to print.
    pub fn run(&self) -> Result<String, Failure> {
        self.answer(&self.events.open(&self.file, self.device)?)
    }

    fn answer(&self, opened: &Opened) -> Result<String, Failure> {
        let Some(folder) = &self.source else {
            let report = self.report(opened, None)?.top(self.top);
            return Ok(if self.json { json(opened, report, &[]) } else { page::table(opened, &report) });
        };
        let sources = Sources::open(folder, &opened.trace)?;
        let whole = self.report(opened, Some(&sources))?;
        let report = whole.clone().top(self.top);
        let found: Vec<Found> = report.files.iter().filter_map(|file| sources.read(file)).collect();
        if self.json {
            return Ok(json(opened, report, &found));
        }
        Ok(page::listing(opened, &whole, &report, &found, self.all) + &page::elsewhere(&sources.missing))
    }

    /// Sums the allocations by line; with a folder, only for the files that are found in it.
    fn report(&self, opened: &Opened, sources: Option<&Sources>) -> Result<SourceReport, Failure> {
        let (device, timeline) = opened.choose_device(self.device)?;
        let scope = peak::scope(device, timeline, self.at, self.from, self.to)?;
        let population = Population { trace: &opened.trace, device, timeline, spans: &[], categories: &[] };
        let focus = sources.map(|sources| sources.files.keys().cloned().collect());
        let config = SourceConfig { focus, ..SourceConfig::of(&population, &scope, Filter::default()) };
        let mut report = source_report(&population, &config);
        if let Some(name) = &self.name {
            report.files.retain(|file| ends_like(&file.path, name));
            if report.files.is_empty() {
                return Err(no_line_of(&opened.file, name));
            }
        }
        match &config.focus {
            Some(focus) => report.files.retain(|file| focus.contains(&file.path)),
            // Every stack passes the same lines of PyTorch.
            None if self.name.is_none() => report.files.retain(|file| file.kind != CodeKind::Runtime),
            None => {}
        }
        match (&self.name, &self.source) {
            (Some(name), Some(folder)) if report.files.is_empty() => Err(Failure::new(
                format!("--source {}: the file {name} of the stacks is not there", folder.display()),
                "omit --file to see the files that are there, or pass another folder",
            )),
            _ => Ok(report),
        }
    }
}

fn no_line_of(file: &str, name: &str) -> Failure {
    Failure::new(format!("{file}: no stack has a line of a file {name}"), "omit --file to see the files of the stacks")
}

fn json(opened: &Opened, report: SourceReport, found: &[Found]) -> String {
    let found = found.iter().map(|found| found.quoted(&report)).collect();
    let document = OfFile::new(&opened.file, SourceDocument { report, found });
    output::document(&document)
}
