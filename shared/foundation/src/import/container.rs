//! Recognises the containers of a snapshot by their content and unpacks them.

use super::build::{Plan, SnapshotBuilder};
use super::error::{CUT_OFF, DAMAGED, HINT_CUT, HINT_LIMIT, HINT_WRITE, ImportError, OVER_A_LIMIT};
use super::foreign::{self, Form, Head, empty};
use super::html::HtmlDecoder;
use super::json::JsonReader;
use crate::base::format;
use crate::pickle::{Finished, Reader};
use crate::trace::{Container, Encoding, Format};
use flate2::write::MultiGzDecoder;
use std::io::{self, Write};

/// Document and its file format.
pub(super) type Decoded = (Finished<SnapshotBuilder>, Format);

/// Number of bytes inspected to recognise a file.
const START_BYTES: usize = 32;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Layer of a file: its first bytes, and the decoder that the bytes pass.
#[derive(Debug)]
pub(super) struct Layer {
    head: Head,
    state: State,
    seen_bytes: u64,
    /// Maximum number of bytes of this layer, and of each layer inside it.
    most_bytes: u64,
}

#[derive(Debug)]
enum State {
    /// Too few bytes to recognise the file; `wrappings` more containers are allowed.
    Start {
        first: Vec<u8>,
        wrappings: u8,
        /// Plan for the builder of the content.
        plan: Plan,
    },
    Pickle(Box<Reader<SnapshotBuilder>>),
    Json(Box<JsonReader<SnapshotBuilder>>),
    Html(HtmlDecoder, Box<Layer>),
    Gzip(Box<MultiGzDecoder<Sink>>),
    /// The bytes can't be read; those that follow may still tell what the file is.
    Doubt(Doubt),
}

/// Error of a file that can't be read, while more of its first bytes arrive.
#[derive(Debug)]
struct Doubt {
    error: ImportError,
    form: Form,
}

/// Output of the gzip decoder: a layer that keeps its own error, because `io::Error` would lose its parts.
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

impl Default for Layer {
    fn default() -> Self {
        Self::new(Plan::default())
    }
}

impl Layer {
    /// Creates a layer that allows three containers, because a file can be made that is the gzip of itself.
    pub(super) fn new(plan: Plan) -> Self {
        Self::within(3, plan, u64::MAX)
    }

    /// Limits the layer to `most_bytes`, both packed and unpacked.
    pub(super) fn at_most(self, most_bytes: u64) -> Self {
        Self { most_bytes, ..self }
    }

    fn within(wrappings: u8, plan: Plan, most_bytes: u64) -> Self {
        let state = State::Start { first: Vec::new(), wrappings, plan };
        Self { head: Head::default(), state, seen_bytes: 0, most_bytes }
    }

    /// Returns the builder of the content, once its encoding is known.
    pub(super) fn builder(&self) -> Option<&SnapshotBuilder> {
        match &self.state {
            State::Start { .. } | State::Doubt(_) => None,
            State::Pickle(reader) => Some(reader.builder()),
            State::Json(reader) => Some(reader.builder()),
            State::Html(_, inner) => inner.builder(),
            State::Gzip(decoder) => decoder.get_ref().layer.builder(),
        }
    }

    pub(super) fn seen_bytes(&self) -> u64 {
        self.seen_bytes
    }

    pub(super) fn decoded_bytes(&self) -> u64 {
        let inner = match &self.state {
            State::Start { .. } | State::Doubt(_) | State::Pickle(_) | State::Json(_) => 0,
            State::Html(_, inner) => inner.decoded_bytes(),
            State::Gzip(decoder) => decoder.get_ref().layer.decoded_bytes(),
        };
        inner.max(self.seen_bytes)
    }

    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<(), ImportError> {
        self.seen_bytes += bytes.len() as u64;
        if self.seen_bytes > self.most_bytes {
            return Err(too_much(self.most_bytes));
        }
        self.head.push(bytes);
        while let State::Start { first, .. } = &mut self.state {
            let (start, rest) = bytes.split_at(bytes.len().min(START_BYTES - first.len()));
            first.extend_from_slice(start);
            bytes = rest;
            if first.len() < START_BYTES {
                return Ok(());
            }
            self.begin()?;
        }
        self.take(bytes)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), ImportError> {
        let (form, result) = match &mut self.state {
            State::Start { .. } => return Ok(()),
            State::Doubt(doubt) => return doubt.told(&self.head),
            State::Pickle(reader) => (Form::Pickle, reader.push(bytes).map_err(ImportError::from)),
            State::Json(reader) => (Form::Json, reader.push(bytes)),
            State::Html(decoder, inner) => {
                let mut decoded = Vec::with_capacity(bytes.len() / 4 * 3 + 3);
                let result = decoder.push(bytes, &mut decoded);
                // The earlier error is reported first, however the chunks are cut.
                inner.push(&decoded).map_err(|error| in_page(&self.head, error))?;
                (Form::Page, result)
            }
            State::Gzip(decoder) => {
                let result = decoder.write_all(bytes);
                return result.map_err(|_| gzip_error(decoder.get_mut(), DAMAGED, "The gzip data is damaged"));
            }
        };
        result.or_else(|error| self.doubt(error, form))
    }

    /// Keeps an error back until enough bytes have arrived to tell what the file is.
    fn doubt(&mut self, error: ImportError, form: Form) -> Result<(), ImportError> {
        let doubt = Doubt { error, form };
        let result = doubt.told(&self.head);
        self.state = State::Doubt(doubt);
        result
    }

    pub(super) fn finish(mut self) -> Result<Decoded, ImportError> {
        self.begin()?;
        let Self { head, state, .. } = self;
        let explained = |error, form| foreign::explained(&head, form, error);
        match state {
            State::Start { .. } => Err(empty()),
            State::Doubt(doubt) => Err(doubt.explained(&head)),
            State::Pickle(reader) => {
                if let Some(error) = foreign::old_checkpoint(&head) {
                    return Err(error);
                }
                let finished = reader.finish().map_err(|error| explained(error.into(), Form::Pickle))?;
                let format = Format { container: Container::Raw, encoding: Encoding::Pickle(finished.protocol) };
                Ok((finished, format))
            }
            State::Json(reader) => {
                let finished = reader.finish().map_err(|error| explained(error, Form::Json))?;
                Ok((finished, Format::default()))
            }
            State::Html(decoder, inner) => {
                // A truncated snapshot is reported as such; a page without a snapshot is reported by its kind.
                decoder
                    .finish()
                    .map_err(|error| if error.code == CUT_OFF { error } else { explained(error, Form::Page) })?;
                wrapped(*inner, Container::Html).map_err(|error| in_page(&head, error))
            }
            State::Gzip(mut decoder) => {
                let result = decoder.try_finish();
                // Truncated data lacks its checksum as well.
                result.map_err(|_| gzip_error(decoder.get_mut(), CUT_OFF, "The gzip data ends early"))?;
                wrapped(std::mem::take(&mut decoder.get_mut().layer), Container::Gzip)
            }
        }
    }

    /// Returns the kind of the content inside a damaged container, if it is known.
    fn known(&self) -> Option<ImportError> {
        match &self.state {
            State::Doubt(doubt) => Some(doubt.explained(&self.head)),
            State::Json(_) => foreign::known(&self.head, Form::Json),
            State::Pickle(_) => foreign::known(&self.head, Form::Pickle),
            _ => None,
        }
    }

    /// Recognises the file, unless all bytes so far are blank.
    fn begin(&mut self) -> Result<(), ImportError> {
        let most_bytes = self.most_bytes;
        let State::Start { first, wrappings, plan } = &mut self.state else { return Ok(()) };
        // White space in front of JSON and HTML carries no information.
        let all = std::mem::take(first);
        let bytes = all.trim_ascii_start();
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let Some(&first) = bytes.first() else { return Ok(()) };
        match State::recognise(first, *wrappings, plan, most_bytes) {
            Ok(state) => {
                self.state = state;
                self.take(bytes)
            }
            Err(error) => self.doubt(error, Form::Unknown),
        }
    }
}

impl State {
    /// Returns the decoder of a file that begins with this byte.
    fn recognise(first: u8, wrappings: u8, plan: &Plan, most_bytes: u64) -> Result<Self, ImportError> {
        if matches!(first, b'<' | 0x1f) && wrappings == 0 {
            let message = "The file has too many nested layers of gzip or HTML";
            return Err(ImportError::new("too-many-wrappings", message, HINT_WRITE));
        }
        let inner = Layer::within(wrappings.wrapping_sub(1), plan.clone(), most_bytes);
        // A pickle begins with PROTO, or with the container that it holds: `(`, `]` or `}`.
        Ok(match first {
            0x80 | b'(' | b']' | b'}' => Self::Pickle(Box::new(Reader::new(plan.builder()))),
            b'{' | b'[' => Self::Json(Box::new(JsonReader::new(plan.builder()))),
            b'<' => Self::Html(HtmlDecoder::default(), Box::new(inner)),
            0x1f => Self::Gzip(Box::new(MultiGzDecoder::new(Sink { layer: inner, error: None }))),
            _ => return Err(empty()),
        })
    }
}

impl Doubt {
    /// Returns the kind of the file as an error, once all bytes that may tell it have arrived.
    fn told(&self, head: &Head) -> Result<(), ImportError> {
        if head.is_full() { Err(self.explained(head)) } else { Ok(()) }
    }

    fn explained(&self, head: &Head) -> ImportError {
        foreign::explained(head, self.form, self.error.clone())
    }
}

/// Returns the error of a page whose content is no snapshot.
///
/// It describes the page and not its content, because the page is the file that was opened.
fn in_page(head: &Head, error: ImportError) -> ImportError {
    let is_of_snapshot = matches!(error.code, CUT_OFF | DAMAGED);
    if is_of_snapshot { error } else { foreign::explained(head, Form::Page, error) }
}

/// Finishes the inner layer; the outermost container is the one that is named.
fn wrapped(inner: Layer, container: Container) -> Result<Decoded, ImportError> {
    let (finished, format) = inner.finish()?;
    Ok((finished, Format { container, ..format }))
}

/// Returns the first of these: error of the content, kind of the content, error of the compressed data.
fn gzip_error(sink: &mut Sink, code: &'static str, message: &str) -> ImportError {
    let of_content = sink.error.take().or_else(|| sink.layer.known());
    of_content.unwrap_or_else(|| ImportError::new(code, message, HINT_CUT))
}

/// Returns the error of a file above its size limit; a few bytes may unpack to any number.
fn too_much(most_bytes: u64) -> ImportError {
    let message = format!("The file unpacks to more than {}", format::bytes(most_bytes));
    ImportError::new(OVER_A_LIMIT, message, HINT_LIMIT)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Returns the error of a file with a limit on the bytes that it may unpack to.
    fn said(file: &[u8], most_bytes: u64) -> String {
        let mut layer = Layer::default().at_most(most_bytes);
        let read = layer.push(file).and_then(|()| layer.finish().map(drop));
        read.expect_err("it is no snapshot").to_string()
    }

    #[test]
    fn what_a_file_unpacks_to_is_bounded() {
        let page = [b"<".as_slice(), &[b' '; 3 << 20]].concat();
        // Members may be concatenated and wrapped again.
        let joined = [gzip(&page[..1 << 20]), gzip(&page[1 << 20..])].concat();
        for file in [joined.clone(), gzip(&joined)] {
            assert!(file.len() < 10_000);
            assert_eq!(said(&file, 2 << 20), "The file unpacks to more than 2.00 MiB");
            assert_eq!(said(&file, page.len() as u64), said(&page, u64::MAX));
        }
        assert_eq!(said(&page, 2 << 20), "The file unpacks to more than 2.00 MiB");
    }
}
