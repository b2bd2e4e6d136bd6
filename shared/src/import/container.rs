//! What a snapshot is wrapped in, recognised by content.

use super::build::{Plan, SnapshotBuilder};
use super::error::{HINT_CUT, HINT_WRITE, ImportError};
use super::html::HtmlDecoder;
use super::json::JsonReader;
use crate::pickle::{Finished, Reader};
use crate::trace::{Container, Encoding, Format};
use flate2::write::MultiGzDecoder;
use std::io::{self, Write};

/// A document, and how it was written.
pub(super) type Decoded = (Finished<SnapshotBuilder>, Format);

/// So many bytes are looked at to recognise a file.
const HEAD_BYTES: usize = 32;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The decoders that the bytes of a file pass.
#[derive(Debug)]
pub(super) enum Layer {
    /// Too few bytes to tell; so many wrappings may still come.
    Start {
        head: Vec<u8>,
        wrappings: u8,
        /// What is made of the content.
        plan: Plan,
    },
    Pickle(Box<Reader<SnapshotBuilder>>),
    Json(Box<JsonReader<SnapshotBuilder>>),
    Html(HtmlDecoder, Box<Layer>),
    Gzip(Box<MultiGzDecoder<Sink>>),
}

/// Where gzip writes to: a layer that keeps its error, as `io::Error` would lose its parts.
#[derive(Debug)]
pub(super) struct Sink {
    layer: Layer,
    error: Option<ImportError>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.layer.push(bytes).map_err(|error| {
            self.error = Some(error);
            io::Error::other("the content is no snapshot")
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file can be made that is the gzip of itself, hence a limit.
impl Default for Layer {
    fn default() -> Self {
        Self::new(Plan::default())
    }
}

impl Layer {
    /// A layer that has seen nothing yet.
    pub(super) fn new(plan: Plan) -> Self {
        Self::Start { head: Vec::new(), wrappings: 3, plan }
    }

    /// The builder of the content, once it is known how that is written.
    pub(super) fn builder(&self) -> Option<&SnapshotBuilder> {
        match self {
            Self::Start { .. } => None,
            Self::Pickle(reader) => Some(reader.builder()),
            Self::Json(reader) => Some(reader.builder()),
            Self::Html(_, inner) => inner.builder(),
            Self::Gzip(decoder) => decoder.get_ref().layer.builder(),
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), ImportError> {
        match self {
            Self::Start { head, .. } => {
                head.extend_from_slice(bytes);
                if head.len() < HEAD_BYTES { Ok(()) } else { self.begin() }
            }
            Self::Pickle(reader) => Ok(reader.push(bytes)?),
            Self::Json(reader) => reader.push(bytes),
            Self::Html(decoder, inner) => {
                let mut decoded = Vec::with_capacity(bytes.len() / 4 * 3 + 3);
                let result = decoder.push(bytes, &mut decoded);
                // What came first is reported first, however the chunks are cut.
                inner.push(&decoded)?;
                result
            }
            Self::Gzip(decoder) => {
                let result = decoder.write_all(bytes);
                result.map_err(|error| decoder.get_mut().error.take().unwrap_or_else(|| bad_gzip(&error)))
            }
        }
    }

    pub(super) fn finish(mut self) -> Result<Decoded, ImportError> {
        self.begin()?;
        match self {
            Self::Start { .. } => Err(ImportError::new("The file is empty", HINT_WRITE)),
            Self::Pickle(reader) => {
                let finished = reader.finish()?;
                let format = Format { container: Container::Raw, encoding: Encoding::Pickle(finished.protocol) };
                Ok((finished, format))
            }
            Self::Json(reader) => Ok((reader.finish()?, Format::default())),
            Self::Html(decoder, inner) => {
                decoder.finish()?;
                wrapped(*inner, Container::Html)
            }
            Self::Gzip(mut decoder) => {
                let result = decoder.try_finish();
                result.map_err(|error| decoder.get_mut().error.take().unwrap_or_else(|| bad_gzip(&error)))?;
                wrapped(std::mem::take(&mut decoder.get_mut().layer), Container::Gzip)
            }
        }
    }

    /// Leaves the start, unless all bytes so far are blank.
    fn begin(&mut self) -> Result<(), ImportError> {
        let Self::Start { head, wrappings, plan } = self else { return Ok(()) };
        // White space in front of JSON and HTML carries no information.
        let bytes = std::mem::take(head);
        let bytes = bytes.trim_ascii_start();
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let Some(&first) = bytes.first() else { return Ok(()) };
        *self = Self::recognise(first, bytes, *wrappings, plan)?;
        self.push(bytes)
    }

    /// The layer for a file that begins with these bytes.
    fn recognise(first: u8, bytes: &[u8], wrappings: u8, plan: &Plan) -> Result<Self, ImportError> {
        if matches!(first, b'<' | 0x1f) && wrappings == 0 {
            return Err(ImportError::new("The file is wrapped in gzip or HTML too many times", HINT_WRITE));
        }
        let inner = Self::Start { head: Vec::new(), wrappings: wrappings.wrapping_sub(1), plan: plan.clone() };
        // A pickle begins with PROTO, or with the container that it is: `(`, `]` or `}`.
        Ok(match first {
            0x80 | b'(' | b']' | b'}' => Self::Pickle(Box::new(Reader::new(plan.builder()))),
            b'{' | b'[' => Self::Json(Box::new(JsonReader::new(plan.builder()))),
            b'<' => Self::Html(HtmlDecoder::default(), Box::new(inner)),
            0x1f => Self::Gzip(Box::new(MultiGzDecoder::new(Sink { layer: inner, error: None }))),
            _ => return Err(foreign(bytes)),
        })
    }
}

/// The outermost wrapping is the one that is named.
fn wrapped(inner: Layer, container: Container) -> Result<Decoded, ImportError> {
    let (finished, format) = inner.finish()?;
    Ok((finished, Format { container, ..format }))
}

fn bad_gzip(error: &io::Error) -> ImportError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ImportError::new("The gzip data ends early", HINT_CUT),
        _ => ImportError::new("The gzip data is damaged", HINT_CUT),
    }
}

fn foreign(bytes: &[u8]) -> ImportError {
    const KNOWN: [(&[u8], &str, &str); 6] = [
        (b"PK", "a zip archive", "torch.save writes checkpoints this way; a memory snapshot is another file."),
        (b"\x28\xb5\x2f\xfd", "Zstandard data", "Decompress it first: zstd -d."),
        (b"BZh", "bzip2 data", "Decompress it first: bunzip2."),
        (b"\xfd7zXZ", "xz data", "Decompress it first: unxz."),
        (b"SQLite format 3", "an SQLite database", HINT_WRITE),
        (b"\x89PNG", "a picture", HINT_WRITE),
    ];
    match KNOWN.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        Some((_, what, hint)) => ImportError::new(format!("Expected a memory snapshot, found {what}"), hint).at(0),
        None => {
            let shown: Vec<String> = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            let message =
                format!("Expected a pickle, gzip, JSON or HTML, found a file that begins with {}", shown.join(" "));
            ImportError::new(message, HINT_WRITE).at(0)
        }
    }
}
