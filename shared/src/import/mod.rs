//! Bytes to a trace: every layout and container of a snapshot.
//!
//! Memory is at most [`most_memory_bytes`](crate::pickle::most_memory_bytes) of the bytes decoded, the trace included,
//! and time is in proportion to them, whatever parts of the file are shared.
//! Decoded bytes are those of the file or what gzip unpacks to, whichever is more.
//!
//! | shared | what becomes of it |
//! |---|---|
//! | frames, stacks, texts, lines of forward stacks | kept once, as handles |
//! | lists of rows | rows of all devices together are at most a fourth of the bytes and 4,096 |
//! | lists that are changed after they were read | items that are copied for it are at most as many as were written and 10,000 |
//! | annotations and settings | written out to 64 times the bytes and 1 MiB, and 16 times that one after the other |
//! | documents that are no snapshot | 4,096 texts are looked at |

mod assemble;
mod build;
mod container;
mod documents;
mod error;
mod fields;
mod foreign;
mod html;
mod json;
mod keeper;
mod keys;
mod oddities;
mod other_data;
mod part;
mod preview;
mod records;
mod room;
mod runs;
mod shapes;
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
pub struct Importer {
    layer: Layer,
}

impl Importer {
    /// An importer that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An importer that can say on the way what it has seen so far; see [`preview`](Self::preview).
    pub fn with_preview() -> Self {
        Self { layer: Layer::new(Plan::Watched) }
    }

    /// An importer for [`finish_overview`](Self::finish_overview) alone, which keeps no event.
    pub fn overview() -> Self {
        Self { layer: Layer::new(Plan::Overview) }
    }

    /// An importer that keeps a part of the events of one device; of the others it keeps the final state.
    ///
    /// The file has to be the one that the request was made for.
    pub fn part(request: PartRequest) -> Self {
        Self { layer: Layer::new(Plan::Part(request)) }
    }

    /// The same importer, which refuses a file of more bytes than `most_bytes`, or that unpacks to more.
    ///
    /// It is found while the file is unpacked, however deep it is wrapped.
    #[must_use]
    pub fn at_most(self, most_bytes: u64) -> Self {
        Self { layer: self.layer.at_most(most_bytes) }
    }

    /// What has been seen so far; `None` from an importer that was not asked to remember it, or before it knows how
    /// the file is written.
    pub fn preview(&self) -> Option<Preview> {
        let builder = self.layer.builder()?;
        let watch = builder.watch.as_ref()?;
        let last_live_bytes = assemble::last_live_bytes(builder);
        Some(Preview { traces: watch.traces(), last_live_bytes, is_odd: watch.is_odd() })
    }

    /// The overview, once all bytes are there.
    ///
    /// # Errors
    /// If the file ends too early, is no snapshot, or no part of its events can be told.
    pub fn finish_overview(self) -> Result<Overview, ImportError> {
        let file_bytes = self.seen_bytes();
        let (finished, format) = self.layer.finish()?;
        let overview =
            assemble::overview(finished.builder, &finished.heap, finished.root, format.encoding, finished.bytes)?;
        Ok(Overview { file_bytes, ..overview })
    }

    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// As soon as the bytes can't be part of a snapshot; the importer is of no use afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ImportError> {
        self.layer.push(bytes)
    }

    /// Bytes of the file taken so far.
    pub fn seen_bytes(&self) -> u64 {
        self.layer.seen_bytes()
    }

    /// Bytes of the file taken so far, or what they unpack to, whichever is more.
    pub fn decoded_bytes(&self) -> u64 {
        self.layer.decoded_bytes()
    }

    /// The trace, once all bytes are there.
    ///
    /// # Errors
    /// If the file ends too early or is no snapshot.
    pub fn finish(self) -> Result<Trace, ImportError> {
        let (finished, format) = self.layer.finish()?;
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
    Diagnostic {
        code: "bytes-after-the-end",
        severity: Severity::Info,
        offset: None,
        count,
        message: format!("{bytes} ignored behind the end of the pickle; a second pickle may be appended there."),
    }
}

fn recursion(count: u64) -> Diagnostic {
    let containers = if count == 1 {
        "1 container contains itself".to_owned()
    } else {
        format!("{} containers contain themselves", format::count(count))
    };
    Diagnostic {
        code: "recursive-containers",
        severity: Severity::Warning,
        offset: None,
        count,
        message: format!("{containers}, which no snapshot does; the inner reference was left out."),
    }
}

/// Decodes a snapshot that lies in memory as a whole.
///
/// # Errors
/// As [`Importer::push`] and [`Importer::finish`].
pub fn import(bytes: &[u8]) -> Result<Trace, ImportError> {
    let mut importer = Importer::new();
    importer.push(bytes)?;
    importer.finish()
}
