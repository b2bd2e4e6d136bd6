//! Defines the messages between the page and the Web Worker of a file.
//!
//! The page numbers its questions, and an answer carries the number of its question.

use super::part::{PartOrder, PreviewData};
use super::question::Question;
use super::summary::{DeviceFigures, FileSummary, Notice, Parts};
use logs::torch_profiler::Makers;
use logs::tracemalloc::TracemallocSnapshot;
use serde::{Deserialize, Serialize};
use shared::import::ImportError;
use shared::report::{Diagnosis, LogReport};

/// Messages of the page to a Web Worker, apart from the `File` object itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// Read the snapshot at this URL.
    Fetch(String),
    /// Read the file again; a read in progress is stopped, and an open file is closed.
    Read(Wanted),
    /// Store a copy of the file's bytes for a reload, by its key in the folder of the tab, as soon as no other work is
    /// waiting.
    Keep { session: String, key: String },
    /// Answer the question with this number.
    Ask(u32, Question),
}

/// Work to do on a file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Wanted {
    /// Open all of it.
    All,
    /// Survey what it contains without opening it.
    Survey,
    /// Open a range of its events.
    Part(PartOrder),
}

/// Part of a log that is needed to show it together with other files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Joinable {
    /// What made the allocations of a trace of torch.profiler.
    Makers(Makers),
    Tracemalloc(TracemallocSnapshot),
}

/// Messages of a Web Worker to the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Report {
    /// Bytes read so far, and the length of the file, 0 while it is unknown.
    Progress {
        seen_bytes: u64,
        total_bytes: u64,
    },
    /// Curves of what has been read so far; sent for files that take a while.
    Preview(Box<PreviewData>),
    /// From now on the file is only surveyed, so that a part of it can be chosen.
    Surveying,
    /// Curves of the whole file, from which a part can be chosen; no file is open now.
    Surveyed(Box<PreviewData>),
    Opened(Box<FileSummary>),
    /// Figures of one device; those of all devices follow [`Report::Opened`].
    Figures(DeviceFigures),
    /// All notices about the file, sent once the lifetimes of all devices are known; they replace those of the summary.
    Notices(Vec<Notice>),
    /// Steps and phases of one device; those of all GPUs follow [`Report::Notices`].
    Parts(Parts),
    /// Findings on all GPUs; the last report about a file.
    Findings(Diagnosis),
    /// The file is a log, and this is all about it, with what is needed beside other files.
    Log(Box<LogReport>, Option<Box<Joinable>>),
    /// True if a copy of the file's bytes has been stored.
    Kept(bool),
    /// The file could not be read; if the worker itself has failed, the page sends this report in its place.
    Failed(Failure),
    /// A newer question of the same kind arrived before the one with this number was examined.
    Superseded(u32),
    /// Reason why the question with this number cannot be answered.
    Refused(u32, String),
    /// Fraction (0 to 1) of the copy that is complete, for the question with this number.
    Copying(u32, f64),
}

impl Report {
    /// Returns true if reading the file has ended, successfully or not.
    pub fn is_read(&self) -> bool {
        matches!(self, Self::Opened(_) | Self::Surveyed(_) | Self::Log(..) | Self::Failed(_))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Code of the decoder's error, such as `git-lfs-pointer`; empty if the file is not the cause.
    pub code: String,
    /// Problem in one sentence without its full stop.
    pub message: String,
    /// Byte offset in the file or in its decompressed content, if known.
    pub offset: Option<u64>,
    pub hint: String,
    pub remedy: Remedy,
}

/// Remedy that the page offers for a file that could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Remedy {
    #[default]
    OtherFile,
    /// Reading it again, since the file itself may be fine.
    Retry,
    /// Opening a part of the file, since all of it may be too much for the browser.
    Part,
    /// The page for new jobs, since the file is a training config.
    Jobs,
}

impl Failure {
    /// Describes a failure that is not in the file.
    pub fn new(message: impl Into<String>, hint: &str, remedy: Remedy) -> Self {
        Self { message: message.into(), hint: hint.to_owned(), remedy, ..Self::default() }
    }

    /// Describes the failure to load the decoder's module.
    pub fn without_decoder() -> Self {
        let hint = "Check the connection and try again. If Snapscope was updated in the meantime, reload the page.";
        Self::new("The part of Snapscope that decodes files could not be loaded", hint, Remedy::Retry)
    }

    /// Describes a worker that ended without a report, which happens if the browser gives it no more memory.
    pub fn stopped(detail: &str) -> Self {
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        let hint = "The tab may have run out of memory. Open only a part of the file, close other files first, or use \
                    the command line.";
        Self::new(format!("The decoder stopped unexpectedly{detail}"), hint, Remedy::Part)
    }

    /// Describes a panic in the decoder.
    ///
    /// A list that does not fit into the address space panics; any other lack of memory ends the worker without a
    /// panic.
    pub fn of_panic(words: &str) -> Self {
        if words.contains("capacity overflow") {
            return Self::stopped(words);
        }
        let hint = "This is a bug in Snapscope. Please report it with this text.";
        Self::new(format!("The decoder stopped unexpectedly: {words}"), hint, Remedy::OtherFile)
    }
}

impl From<ImportError> for Failure {
    fn from(ImportError { code, offset, message, hint }: ImportError) -> Self {
        let remedy = match code {
            "training-config" | "training-arguments" => Remedy::Jobs,
            _ => Remedy::OtherFile,
        };
        Self { code: code.to_owned(), message, offset, hint, remedy }
    }
}
