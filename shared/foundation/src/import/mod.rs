//! Decodes snapshots of every layout and container into a [`Trace`].
//!
//! Memory is at most [`most_memory_bytes`](crate::pickle::most_memory_bytes) of the decoded bytes, including the trace,
//! and time is proportional to them, whatever parts of the file are shared.
//! Decoded bytes are those of the file or those that gzip unpacks to, whichever is more.
//!
//! | shared parts | limit |
//! |---|---|
//! | frames, stacks, strings, lines of forward stacks | none, because each is stored once, as a handle |
//! | lists of rows | one row per 4 bytes plus 4,096 rows, all devices together |
//! | lists that change after they were read | as many items are copied for it as were written, plus 10,000 |
//! | annotations | one key per byte is visited, all annotations together |
//! | settings | 64 bytes per byte plus 1 MiB |
//! | documents that are no snapshot | the first 256 keys are inspected |
//!
//! Invariant: only a broken container is an error; anything odd but readable becomes a diagnostic.

mod assemble;
mod build;
mod container;
mod documents;
mod error;
mod foreign;
mod forms;
mod html;
mod json;
mod keys;
mod oddities;
mod part;
mod preview;
mod records;
mod room;
mod unwind;

pub use error::ImportError;
pub use part::{Overview, OverviewDevice, PartRequest};
pub use preview::{Preview, PreviewTrace};

use crate::base::{Diagnostic, Severity, format};
use crate::trace::Trace;
use build::Plan;
use container::Layer;

/// Decodes a snapshot that arrives in chunks of any size.
#[derive(Debug, Default)]
pub struct Importer(Layer);

impl Importer {
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an importer that can report on the way what it has read so far; see [`preview`](Self::preview).
    pub fn with_preview() -> Self {
        Self(Layer::new(Plan::Watched))
    }

    /// Creates an importer for [`finish_overview`](Self::finish_overview) alone, which keeps no event.
    pub fn overview() -> Self {
        Self(Layer::new(Plan::Overview))
    }

    /// Creates an importer that keeps a part of one device's events, and the final state of all devices.
    ///
    /// The file must be the one that the request was made for.
    pub fn part(request: PartRequest) -> Self {
        Self(Layer::new(Plan::Part(request)))
    }

    /// Limits the file, and what it unpacks to, to `most_bytes` each.
    ///
    /// The limit applies while the file is unpacked, however deep it is wrapped.
    #[must_use]
    pub fn at_most(self, most_bytes: u64) -> Self {
        Self(self.0.at_most(most_bytes))
    }

    /// Returns what has been read so far.
    ///
    /// `None` from an importer that was not created with a preview, or before it knows the file's encoding.
    pub fn preview(&self) -> Option<Preview> {
        let builder = self.0.builder()?;
        let watch = builder.watch.as_ref()?;
        let last_live_bytes = assemble::last_live_bytes(builder);
        Some(Preview { traces: watch.traces(), last_live_bytes, is_odd: watch.is_odd() })
    }

    /// Returns the overview after the last bytes.
    ///
    /// # Errors
    /// Returns an error if the file is truncated or no snapshot, or if its events are nested in an unusual way,
    /// so that no part can be chosen.
    pub fn finish_overview(self) -> Result<Overview, ImportError> {
        let file_bytes = self.seen_bytes();
        let (finished, format) = self.0.finish()?;
        let overview =
            assemble::overview(finished.builder, &finished.heap, finished.root, format.encoding, finished.bytes)?;
        Ok(Overview { file_bytes, ..overview })
    }

    /// Reads the next bytes of the file.
    ///
    /// # Errors
    /// Returns an error as soon as the bytes can't be part of a snapshot; the importer must not be used afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ImportError> {
        self.0.push(bytes)
    }

    /// Returns the number of bytes read from the file so far.
    pub fn seen_bytes(&self) -> u64 {
        self.0.seen_bytes()
    }

    /// Returns the number of bytes read from the file so far or unpacked from them, whichever is more.
    pub fn decoded_bytes(&self) -> u64 {
        self.0.decoded_bytes()
    }

    /// Returns the trace after the last bytes.
    ///
    /// # Errors
    /// Returns an error if the file is truncated or no snapshot.
    pub fn finish(self) -> Result<Trace, ImportError> {
        let (finished, format) = self.0.finish()?;
        let (trailing_bytes, recursive) = (finished.trailing_bytes, finished.recursive_containers);
        let mut trace = assemble::assemble(finished.builder, &finished.heap, finished.root, format, finished.bytes)?;
        if trailing_bytes > 0 {
            trace.diagnostics.push(trailing(trailing_bytes));
        }
        if recursive > 0 {
            trace.diagnostics.push(recursion(recursive));
        }
        debug_assert_eq!(trace.check(), ());
        Ok(trace)
    }
}

fn trailing(count: u64) -> Diagnostic {
    let bytes = if count == 1 { "1 byte was".to_owned() } else { format!("{} bytes were", format::count(count)) };
    let message = format!("{bytes} ignored after the end of the pickle; a second pickle may be appended there.");
    Diagnostic::new(Severity::Info, "bytes-after-the-end", count, message)
}

fn recursion(count: u64) -> Diagnostic {
    let containers = match count {
        1 => "1 container contains itself".to_owned(),
        count => format!("{} containers contain themselves", format::count(count)),
    };
    let message = format!("{containers}, which a valid snapshot never does. The inner reference was omitted.");
    Diagnostic::new(Severity::Warning, "recursive-containers", count, message)
}

/// Decodes a snapshot that is in memory as a whole.
///
/// # Errors
/// Returns the errors of [`Importer::push`] and [`Importer::finish`].
pub fn import(bytes: &[u8]) -> Result<Trace, ImportError> {
    let mut importer = Importer::new();
    importer.push(bytes)?;
    importer.finish()
}
