//! Implements `snapscope diagnose`, which reports findings about snapshots and gives advice.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use logs::Content;
use logs::tracemalloc::TracemallocSnapshot;
use logs::{Log, LogReader, log_report, traced_growth};
use shared::analysis::{FindingsConfig, SourceLine, place, source_files, studies};
use shared::api::{DiagnoseReport, OfFile};
use shared::base::{Severity, format, frame_rules};
use shared::export::{diagnosis_markdown, log_markdown};
use shared::report::{Diagnosis, DiagnosisConfig, Evidence, Finding, Frame, LogReport, diagnosis};

use super::named;
use super::names::OwnOption;
use super::output::{Output, document};
use super::range::EventRange;
use super::source::Sources;
use super::text::lines;
use crate::Failure;
use crate::snapshot_file::feed;
use crate::units;

mod log;
mod together;

pub(in crate::commands) use self::log::summary as log_summary;
use together::Together;

/// The options of `snapscope diagnose`.
#[derive(Debug, Clone, Args)]
pub struct DiagnoseArgs {
    /// The snapshots: pickles of `_dump_snapshot`, gzipped or not, their JSON form, or HTML pages of `trace_plot`; or
    /// logs: of trainings with out-of-memory errors, `memory_summary` or `memory_stats`, and of host memory, such as
    /// those of `ps aux` and `date` in a loop, `top -b` or mprof; or snapshots of tracemalloc, of
    /// which several are compared in their order; a folder stands for its files; `-` reads a log from the standard
    /// input, such as a pasted error
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// GPU memory, such as 80GiB, or the name of a GPU, such as t4-16gb, to predict when growth fills it and to show
    /// how much other processes used
    #[arg(long, value_name = "SIZE", value_parser = units::capacity)]
    capacity: Option<u64>,

    /// Report a peak above this size as an error
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    max_peak: Option<u64>,

    /// Report more reserved memory than this as an error
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    max_reserved: Option<u64>,

    /// Report growth above this size per step as an error
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    max_growth: Option<u64>,

    /// Quote the lines of a snapshot's findings from the source files in this folder
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,

    #[command(flatten)]
    events: EventRange,

    #[command(flatten)]
    own: OwnOption,

    /// Print Markdown, for an issue or a chat
    #[arg(long, conflicts_with_all = ["json", "source"])]
    markdown: bool,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The findings of all files, as plain data and for the terminal.
#[derive(Default)]
pub(super) struct Reported {
    pub(super) report: DiagnoseReport,
    pub(super) page: String,
    has_errors: bool,
    /// Failures of the files that could not be read.
    pub(super) unread: Vec<Failure>,
    /// True if no file could be read.
    pub(super) is_nothing: bool,
}

impl Reported {
    /// Adds what one file says; the text begins with its name.
    fn add(&mut self, name: &str, diagnosis: Diagnosis, text: &str) {
        self.has_errors |= diagnosis.findings.iter().any(|finding| finding.severity == Severity::Error);
        self.page += if self.page.is_empty() { "" } else { "\n" };
        self.page += text;
        self.report.add(name, diagnosis);
    }
}

impl DiagnoseArgs {
    /// Reads the files and returns their findings; an unreadable file does not stop the others.
    pub fn run(&self) -> Output {
        let Reported { report, page, has_errors, unread, is_nothing } = self.reported();
        let text = match self.json {
            _ if is_nothing => String::new(),
            true => document(&report),
            false => page,
        };
        Output::without(&unread, text, u8::from(has_errors))
    }

    /// Reads the files and returns their findings.
    pub(super) fn reported(&self) -> Reported {
        let mut told = Reported::default();
        let files = named::files(&self.files).unwrap_or_else(|failure| {
            told.unread.push(failure);
            Vec::new()
        });
        let mut left_out = Vec::new();
        let mut together = Together::new(&files);
        for file in &files {
            match self.diagnose(&file.path, &mut together, &mut told) {
                Ok(()) => {}
                Err(failure) if file.is_of_folder => left_out.push((&file.path, failure)),
                Err(failure) => told.unread.push(failure),
            }
        }
        // A run's folder also has other files; with nothing else in it, they are failures.
        if left_out.len() == files.len() {
            told.unread.extend(left_out.drain(..).map(|(_, failure)| failure));
        }
        if let Some((name, report)) = growth_of(&together.traced) {
            self.add_report(&name, report, &mut told);
        }
        let joined = together.join(&mut told.report);
        told.page += &self.preformatted(joined);
        told.page += &not_read(&left_out);
        told.is_nothing = told.unread.len() >= files.len();
        told
    }

    fn diagnose(&self, file: &Path, together: &mut Together, told: &mut Reported) -> Result<(), Failure> {
        if file == Path::new("-") {
            return self.diagnose_input(told);
        }
        let opened = match self.events.open_any(file, None)? {
            Content::Snapshot(opened) => self.own.apply(opened),
            Content::Log(log) => {
                let name = file.display().to_string();
                self.add_log(&name, &log, told);
                together.add_log(name, *log);
                return Ok(());
            }
        };
        let devices: Vec<_> = opened.devices().collect();
        let studies = studies(&opened.trace, &devices);
        let diagnosis = diagnosis(&opened.trace, &studies, &self.config());
        let growth: String =
            { diagnosis.growth.iter() }.map(|growth| log::growth(growth, &opened.device_name(growth.device))).collect();
        let word = opened.device_word();
        let paths = source_files(&opened.trace);
        let sources = self.source.as_ref().map(|folder| Sources::of(folder, &paths)).transpose()?;
        let name = &opened.file;
        let text = match self.markdown {
            true => diagnosis_markdown(name, &diagnosis, word),
            false => format!("{name}\n{}{}", runs(&diagnosis), findings(&diagnosis, word, sources.as_ref())),
        } + &self.preformatted(growth);
        drop(studies);
        told.add(name, diagnosis, &text);
        together.add_snapshot(opened);
        Ok(())
    }

    fn diagnose_input(&self, told: &mut Reported) -> Result<(), Failure> {
        let name = "the standard input";
        let mut reader = LogReader::default();
        let Ok(()) = feed(std::io::stdin(), name, |bytes| {
            reader.push(bytes);
            Ok::<_, Infallible>(())
        })?;
        let log = reader.finish();
        if log.is_empty() {
            let (message, hint) = log.nearest.told();
            return Err(Failure::new(format!("{name}: {message}"), format!("{hint} Pass snapshots as files.")));
        }
        self.add_log("standard input", &log, told);
        Ok(())
    }

    fn add_log(&self, name: &str, log: &Log, told: &mut Reported) {
        self.add_report(name, log_report(log), told);
        if log.has_host() {
            told.report.diagnostics.extend(log.host.diagnostics.iter().map(|one| OfFile::new(name, one.clone())));
        }
    }

    fn add_report(&self, name: &str, report: LogReport, told: &mut Reported) {
        let text = match self.markdown {
            true => log_markdown(name, &report),
            false => {
                let findings = findings(&report.diagnosis, "GPU", None);
                let tables: String = report.tables.iter().map(log::table).collect();
                format!("{name}\n{}{findings}{tables}{}", log::summary(&report), log::notices(&report))
            }
        };
        told.add(name, report.diagnosis, &text);
        told.report.owners.extend(report.owners.into_iter().map(|one| OfFile::new(name, one)));
        told.report.tables.extend(report.tables.into_iter().map(|one| OfFile::new(name, one)));
    }

    /// Returns lines that are aligned for a terminal, in a block of code if the page is Markdown.
    fn preformatted(&self, lines: String) -> String {
        match self.markdown && !lines.is_empty() {
            true => format!("\n```text\n{}\n```\n", lines.trim_matches('\n')),
            false => lines,
        }
    }

    fn config(&self) -> DiagnosisConfig {
        let findings = FindingsConfig {
            capacity_bytes: self.capacity,
            max_peak_bytes: self.max_peak,
            max_reserved_bytes: self.max_reserved,
            max_growth_bytes: self.max_growth,
        };
        DiagnosisConfig { findings, with_groups: self.json }
    }
}

/// Compares the snapshots of tracemalloc among the files, in the order of the command line; `None` with fewer than two.
fn growth_of(traced: &[(String, Box<TracemallocSnapshot>)]) -> Option<(String, LogReport)> {
    let comparable = || traced.iter().filter(|(_, snapshot)| snapshot.flaw.is_none());
    let snapshots: Vec<&TracemallocSnapshot> = comparable().map(|(_, snapshot)| &**snapshot).collect();
    let names: Vec<&str> = comparable().map(|(name, _)| name.as_str()).collect();
    traced_growth(&snapshots).map(|report| (names.join(" → "), report))
}

/// Names the files of folders that could not be read.
fn not_read(files: &[(&PathBuf, Failure)]) -> String {
    const MOST: usize = 5;
    if files.is_empty() {
        return String::new();
    }
    let names: Vec<String> = files.iter().take(MOST).map(|(path, _)| path.display().to_string()).collect();
    let more = files.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let count = format::counted(files.len() as u64, "file");
    format!("\nLeft out as neither snapshots nor logs of memory: {count}, {}{more}\n", names.join(", "))
}

/// Formats the sentence about each device.
fn runs(diagnosis: &Diagnosis) -> String {
    diagnosis.runs.iter().map(|run| format!("  {}\n", run.headline)).collect()
}

/// Formats findings; `word` is the word for a device, and `sources` has the lines to quote.
fn findings(diagnosis: &Diagnosis, word: &str, sources: Option<&Sources>) -> String {
    let mut page = String::new();
    for finding in &diagnosis.findings {
        let Finding { line, parts, evidence, steps, why, .. } = finding;
        let _ = writeln!(page, "\n{}", finding.headline(word));
        for part in parts {
            let _ = writeln!(page, "  - {}", part.text());
        }
        for (step, number) in steps.iter().zip(1..) {
            indented(&mut page, &format!("{number}. "), &step.text);
        }
        for paragraph in [why, &evidence.shows] {
            indented(&mut page, "", paragraph);
        }
        if let Some(quoted) = sources.and_then(|sources| quoted(sources, line.as_ref(), evidence)) {
            let _ = writeln!(page, "    {quoted}");
        }
        for stack in evidence.stacks.iter().take(3) {
            let frames = program_frames(stack);
            if let Some((first, callers)) = frames.split_first() {
                let callers: String = callers.iter().take(2).map(|frame| format!(" < {frame}")).collect();
                let _ = writeln!(page, "    {first}{callers}");
            }
        }
    }
    page
}

/// Appends a paragraph behind a mark, broken into lines that start below its first word.
fn indented(page: &mut String, mark: &str, paragraph: &str) {
    let below = " ".repeat(mark.len());
    for (line, before) in lines(paragraph).iter().zip([mark].into_iter().chain(std::iter::repeat(below.as_str()))) {
        let _ = writeln!(page, "  {before}{line}");
    }
}

/// Quotes the line of a finding, or else the innermost line of the program in its first stack.
fn quoted(sources: &Sources, line: Option<&SourceLine>, evidence: &Evidence) -> Option<String> {
    let of_program = |frame: &&Frame| !frame_rules::is_runtime(&frame.filename);
    let frame = || evidence.stacks.first()?.iter().find(of_program);
    let (path, number, function) = match line {
        Some(line) => (&line.file, line.line, &line.function),
        None => frame().map(|frame| (&frame.filename, frame.line, &frame.name))?,
    };
    let code = sources.line(path, number, function)?;
    Some(format!("{}: {code}", place("", path, number)))
}

/// Returns the frames of the program, innermost first, without those of the runtime below it.
fn program_frames(stack: &[Frame]) -> Vec<String> {
    let of_program = stack.iter().filter(|frame| !frame_rules::is_runtime(&frame.filename));
    of_program.map(|frame| place(&frame.name, &frame.filename, frame.line)).collect()
}
