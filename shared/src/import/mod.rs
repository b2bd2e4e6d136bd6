//! Bytes to a trace: every layout and container of a snapshot.

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
mod part;
mod preview;
mod records;
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
    seen_bytes: u64,
}

impl Importer {
    /// An importer that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An importer that can say on the way what it has seen so far; see [`preview`](Self::preview).
    pub fn with_preview() -> Self {
        Self { layer: Layer::new(Plan::Watched), seen_bytes: 0 }
    }

    /// An importer for [`finish_overview`](Self::finish_overview) alone, which keeps no event.
    pub fn overview() -> Self {
        Self { layer: Layer::new(Plan::Overview), seen_bytes: 0 }
    }

    /// An importer that keeps a part of the events of one device; of the others it keeps the final state.
    ///
    /// The file has to be the one that the request was made for.
    pub fn part(request: PartRequest) -> Self {
        Self { layer: Layer::new(Plan::Part(request)), seen_bytes: 0 }
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
        let file_bytes = self.seen_bytes;
        let (finished, format) = self.layer.finish()?;
        let overview = assemble::overview(finished.builder, &finished.heap, finished.root, format.encoding)?;
        Ok(Overview { file_bytes, ..overview })
    }

    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// As soon as the bytes can't be part of a snapshot; the importer is of no use afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ImportError> {
        self.layer.push(bytes)?;
        self.seen_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Bytes of the file taken so far.
    pub fn seen_bytes(&self) -> u64 {
        self.seen_bytes
    }

    /// The trace, once all bytes are there.
    ///
    /// # Errors
    /// If the file ends too early or is no snapshot.
    pub fn finish(self) -> Result<Trace, ImportError> {
        // Compressed data may hold more values than bytes; a small floor lets tiny files through.
        const VALUES_PER_BYTE: u64 = 64;
        let budget = 10_000 + VALUES_PER_BYTE * self.seen_bytes;
        let (finished, format) = self.layer.finish()?;
        let (trailing_bytes, recursive) = (finished.trailing_bytes, finished.recursive_containers);
        let mut trace = assemble::assemble(finished.builder, &finished.heap, finished.root, format, budget)?;
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
