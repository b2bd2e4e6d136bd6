//! A copy of a trace to be shown to others: texts and frames are cleaned, and what was measured stays.
//!
//! Only tables change (texts, frames, stacks, contexts), whose size does not grow with the number of events; the
//! events, segments and blocks are written from the trace itself, so that every figure and every finding about bytes
//! and times is the same in the copy.
//!
//! 1. Hosts, addresses, accounts and keys go by their shape (`secrets.rs`).
//! 2. Paths are cut to what is a project's or a package's own (`paths.rs`).
//! 3. What was cut away is a name, and goes wherever else it is a word (`names.rs`).
//!
//! No rule knows all names, so [`SanitizeReport::remaining`] has every text that is left, for people to read.

mod words;

mod hosts;
mod names;
mod secrets;

mod files;
mod packages;
mod paths;
mod texts;

mod remaining;
mod report;
mod tables;

pub use report::{Change, Package, Remaining, SanitizeReport, TextKind};

use super::snapshot;
use super::source::{Renamed, Source};
use crate::pickle::Style;
use crate::trace::Trace;
use tables::Tables;

/// What is taken out of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SanitizeOptions {
    /// Cut paths to the package or project.
    pub cut_paths: bool,
    /// Take out names that paths tell, wherever they stand, and hosts, addresses and keys.
    pub remove_names: bool,
    /// Further names to take out.
    pub names: Vec<String>,
    /// Keep only the frames of these packages, as [`SanitizeReport::packages`] names them; `None` keeps all.
    pub packages: Option<Vec<String>>,
    /// Leave out the users' texts on events.
    pub drop_metadata: bool,
    /// Leave out the annotated spans.
    pub drop_annotations: bool,
}

impl Default for SanitizeOptions {
    /// What keeps everything that explains the memory, and nothing that names a person.
    fn default() -> Self {
        Self {
            cut_paths: true,
            remove_names: true,
            names: Vec::new(),
            packages: None,
            drop_metadata: true,
            drop_annotations: false,
        }
    }
}

/// A trace with clean tables, ready to be written.
#[derive(Debug)]
pub struct Sanitized<'a> {
    trace: &'a Trace,
    tables: Tables,
    report: SanitizeReport,
}

impl<'a> Sanitized<'a> {
    /// Cleans the tables of a trace; this takes no longer for more events.
    pub fn new(trace: &'a Trace, options: &SanitizeOptions) -> Self {
        let (tables, report) = Tables::clean(trace, options);
        Self { trace, tables, report }
    }

    /// What was taken out.
    pub fn report(&self) -> &SanitizeReport {
        &self.report
    }

    /// Writes the copy as the official snapshot pickle, piece after piece into `sink`.
    ///
    /// `progress` hears now and then how many events of all devices are written.
    pub fn pickle<S: FnMut(&[u8]), P: FnMut(u64)>(&self, style: Style, sink: S, progress: P) {
        let Tables { strings, frames, stacks, contexts, annotations, settings, .. } = &self.tables;
        let renamed = Renamed { stacks: &self.tables.stack_ids, contexts: &self.tables.context_ids };
        let trace = self.trace;
        let source = Source { trace, strings, frames, stacks, contexts, annotations, settings, renamed: Some(renamed) };
        snapshot::write(&source, style, sink, progress);
    }
}
