//! Makes a copy of a trace to be shown to others, with cleaned texts and frames and unchanged measurements.
//!
//! Only tables change (texts, frames, stacks, contexts), whose size does not grow with the number of events; the
//! events, segments and blocks are written from the trace itself, so that every figure and every finding about bytes
//! and times is the same in the copy.
//!
//! 1. Hosts, addresses, accounts and keys are removed by their shape (`secrets.rs`).
//! 2. Paths are shortened to their part inside a project or package (`paths.rs`).
//! 3. Folders that were cut away count as names, which are removed wherever else they occur as words (`names.rs`).
//!
//! No rule knows all names, so [`SanitizeReport::remaining`] lists every text that is left, for people to read.
//!
//! Every sanitized export, a picture as much as a snapshot, is made from the sanitized copy.
//!
//! Invariant: a copy differs only in texts, frames and stacks, and a copy of a copy is the same.

mod hosts;
mod names;
mod secrets;

mod paths;
mod texts;

mod cleaner;
mod report;

pub use cleaner::SanitizeOptions;
pub use report::{Change, Package, Remaining, SanitizeReport, TextKind};

use super::snapshot;
use super::snapshot::{Renamed, Source};
use crate::pickle::Style;
use crate::trace::Trace;
use report::Tables;

/// Trace with clean tables, ready to be written.
#[derive(Debug)]
pub struct Sanitized<'a> {
    trace: &'a Trace,
    tables: Tables,
    report: SanitizeReport,
}

impl<'a> Sanitized<'a> {
    /// Cleans the tables of a trace; the time does not depend on the number of events.
    pub fn new(trace: &'a Trace, options: &SanitizeOptions) -> Self {
        let (tables, report) = Tables::clean(trace, options);
        Self { trace, tables, report }
    }

    pub fn report(&self) -> &SanitizeReport {
        &self.report
    }

    /// Writes the copy as the official snapshot pickle, piece after piece into `sink`.
    ///
    /// `progress` regularly receives the number of events written so far, over all devices.
    pub fn pickle<S: FnMut(&[u8]), P: FnMut(u64)>(&self, style: Style, sink: S, progress: P) {
        let Tables { strings, frames, stacks, contexts, annotations, settings, .. } = &self.tables;
        let renamed = Renamed { stacks: &self.tables.stack_ids, contexts: &self.tables.context_ids };
        let trace = self.trace;
        let source = Source { trace, strings, frames, stacks, contexts, annotations, settings, renamed: Some(renamed) };
        snapshot::write(&source, style, sink, progress);
    }
}
