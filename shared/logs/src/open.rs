//! Decides what the bytes of a file are: a snapshot, a log, or neither.
//!
//! The page, the commands and the MCP server read every file through an [`OpenerBy`], so that all of them decide alike.
//! A file is a log at once if its first bytes say something about memory; anything else is read as a snapshot.
//! The log of a training says only at its end that memory ran out, so that a text that is no snapshot is read once more,
//! as a log; only if it says nothing about memory either, its error as a snapshot is shown.
//!
//! Invariant: nothing else asks whether a file is a log, so that importing knows nothing of logs.

use crate::{Log, LogReader, is_log};
use shared::base::{is_text, unpacked_head};
use shared::import::{ImportError, Importer};

/// Number of first bytes that tell logs from other files.
const HEAD_BYTES: usize = 64 << 10;

/// Content of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<T, L = Box<Log>> {
    Snapshot(T),
    Log(L),
}

/// Reads the files that are no snapshots; the page has its reader in a module that it loads when it is needed.
pub trait ReadsLogs: Default {
    /// What a log says.
    type Log;

    /// Returns true if a file with this beginning is a log that says something about memory.
    fn is_log(head: &[u8]) -> bool;

    /// Reads the next bytes of the file.
    fn push(&mut self, bytes: &[u8]);

    /// Returns the log after the last bytes.
    ///
    /// # Errors
    /// Returns what is said instead of the log, and what to do, if it says nothing about memory.
    fn finish(self) -> Result<Self::Log, (String, String)>;
}

impl ReadsLogs for LogReader {
    type Log = Box<Log>;

    fn is_log(head: &[u8]) -> bool {
        is_log(head)
    }

    fn push(&mut self, bytes: &[u8]) {
        self.push(bytes);
    }

    fn finish(self) -> Result<Box<Log>, (String, String)> {
        let log = self.finish();
        if log.is_empty() { Err(log.nearest.told()) } else { Ok(Box::new(log)) }
    }
}

/// Reads a file that arrives in chunks of any size.
#[derive(Debug)]
pub struct OpenerBy<R>(State<R>);

/// Opener that has the reader of logs.
pub type Opener = OpenerBy<LogReader>;

#[derive(Debug)]
enum State<R> {
    /// First bytes, too few to tell what the file is.
    Start(Vec<u8>, Box<Importer>),
    Snapshot {
        importer: Box<Importer>,
        is_text: bool,
    },
    /// A log, or a text that is no snapshot, with the reason.
    Log(Box<R>, Option<ImportError>),
}

/// Error of a file that is no snapshot.
#[derive(Debug)]
pub struct Unread {
    error: ImportError,
    is_text: bool,
}

/// Returns true if the beginning of a file, packed by gzip or not, is that of a memory snapshot as PyTorch writes it.
pub fn is_snapshot(head: &[u8]) -> bool {
    /// Number of bytes in which the first key of the file's dictionary ends.
    const KEY_BYTES: usize = 64;
    let head = unpacked_head(head);
    let start = &head[..head.len().min(KEY_BYTES)];
    let names = |key: &[u8]| start.windows(key.len()).any(|name| name == key);
    start.starts_with(b"\x80") && (names(b"segments") || names(b"device_traces"))
}

impl<R: ReadsLogs> OpenerBy<R> {
    /// Creates an opener; the importer must have seen no bytes, and reads the file if it is no log.
    pub fn new(importer: Importer) -> Self {
        Self(State::Start(Vec::new(), Box::new(importer)))
    }

    /// Creates an opener for a file that is known to be a snapshot.
    pub fn of_snapshot(importer: Importer) -> Self {
        Self(State::Snapshot { importer: Box::new(importer), is_text: false })
    }

    /// Reads the next bytes of the file.
    ///
    /// # Errors
    /// Returns an error as soon as the bytes can't be part of a snapshot; see [`Unread::again`].
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Unread> {
        match &mut self.0 {
            State::Start(head, _) => {
                head.extend_from_slice(bytes);
                if head.len() < HEAD_BYTES { Ok(()) } else { self.begin() }
            }
            State::Snapshot { importer, is_text } => {
                importer.push(bytes).map_err(|error| Unread { error, is_text: *is_text })
            }
            State::Log(reader, _) => {
                reader.push(bytes);
                Ok(())
            }
        }
    }

    /// Returns the importer, if the file is read as a snapshot.
    pub fn importer(&self) -> Option<&Importer> {
        match &self.0 {
            State::Snapshot { importer, .. } => Some(importer),
            State::Start(..) | State::Log(..) => None,
        }
    }

    /// Returns the content after the last bytes; `decode` finishes the importer.
    ///
    /// # Errors
    /// Returns the error of `decode`; see [`Unread::again`].
    pub fn finish<T>(
        mut self,
        decode: impl FnOnce(Importer) -> Result<T, ImportError>,
    ) -> Result<Content<T, R::Log>, Unread> {
        self.begin()?;
        match self.0 {
            State::Snapshot { importer, is_text } => {
                decode(*importer).map(Content::Snapshot).map_err(|error| Unread { error, is_text })
            }
            State::Log(reader, error) => reader
                .finish()
                .map(Content::Log)
                .map_err(|told| Unread { error: without_memory(error, told), is_text: false }),
            State::Start(..) => unreachable!("the first bytes have told what the file is"),
        }
    }

    /// Decides by the first bytes.
    fn begin(&mut self) -> Result<(), Unread> {
        let State::Start(head, importer) = &mut self.0 else { return Ok(()) };
        let bytes = std::mem::take(head);
        let head = &bytes[..bytes.len().min(HEAD_BYTES)];
        let importer = std::mem::take(importer);
        self.0 = match !is_snapshot(head) && R::is_log(head) {
            true => State::Log(Box::default(), None),
            false => State::Snapshot { importer, is_text: is_text(head) },
        };
        self.push(&bytes)
    }
}

impl Unread {
    /// Returns the opener to which the file has to be passed once more, from its first byte.
    ///
    /// # Errors
    /// Returns the reason why the file is no snapshot if it is no log either.
    pub fn again<R: ReadsLogs>(self) -> Result<OpenerBy<R>, ImportError> {
        match self {
            Self { error, is_text: true } => Ok(OpenerBy(State::Log(Box::default(), Some(error)))),
            // A broken snapshot of gigabytes is not read for a second time.
            Self { error, is_text: false } => Err(error),
        }
    }

    /// Returns the reason why the file is no snapshot.
    pub fn into_error(self) -> ImportError {
        self.error
    }
}

/// Returns the error of a text in which nothing about memory was found; other errors say what the file is.
fn without_memory(error: Option<ImportError>, (message, hint): (String, String)) -> ImportError {
    match error {
        Some(error) if error.code != "text" => error,
        _ => ImportError { code: "text", offset: None, message, hint },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::import::import;

    const OOM: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n";

    /// Reads a file in chunks, twice if necessary, and says what it is.
    fn kind(file: &[u8], chunk_bytes: usize) -> Content<()> {
        let mut opener = Opener::new(Importer::new());
        loop {
            let read = file.chunks(chunk_bytes).try_for_each(|chunk| opener.push(chunk));
            match read.and_then(|()| opener.finish(|importer| importer.finish().map(drop))) {
                Ok(content) => return content,
                Err(unread) => opener = unread.again().map_err(|error| error.code).expect("a snapshot or a log"),
            }
        }
    }

    #[track_caller]
    fn check(file: &[u8], is_log: bool) {
        for chunk_bytes in [1000, HEAD_BYTES, file.len()] {
            assert_eq!(matches!(kind(file, chunk_bytes), Content::Log(_)), is_log, "chunks of {chunk_bytes}");
        }
    }

    #[test]
    fn logs_are_told_by_their_beginning_or_by_their_end() {
        check(OOM.as_bytes(), true);
        let steps = "epoch 1 step 3 loss 0.4\n".repeat(10_000);
        check(format!("{steps}{OOM}").as_bytes(), true);
        check(b"\x80\x02}q\x00(X\x08\x00\x00\x00segmentsq\x01]q\x02X\r\x00\x00\x00device_tracesq\x03]q\x04u.", false);
    }

    #[test]
    fn what_is_neither_has_the_error_of_a_snapshot() {
        let steps = "epoch 1 step 3 loss 0.4\n".repeat(10_000);
        let mut opener = Opener::new(Importer::new());
        let read = opener.push(steps.as_bytes());
        let unread = read.and_then(|()| opener.finish(Importer::finish)).expect_err("no snapshot");
        let mut again: Opener = unread.again().expect("a text");
        assert!(again.push(steps.as_bytes()).is_ok());
        let unread = again.finish(Importer::finish).expect_err("no log");
        let error = unread.again::<LogReader>().expect_err("no log");
        assert_eq!((error.code, error.message.as_str()), ("text", "No line about memory was found in this text"));
        assert_eq!(Some(error.code), import(steps.as_bytes()).err().map(|error| error.code));
        let mut opener = Opener::new(Importer::new());
        let read = opener.push(b"K\0\0");
        let unread = read.and_then(|()| opener.finish(Importer::finish)).expect_err("no snapshot");
        assert!(unread.again::<LogReader>().is_err(), "no text");
    }

    #[test]
    fn a_known_snapshot_is_no_log() {
        let mut opener = Opener::of_snapshot(Importer::new());
        let read = opener.push(OOM.as_bytes());
        let unread = read.and_then(|()| opener.finish(Importer::finish)).expect_err("no snapshot");
        assert!(unread.again::<LogReader>().is_err_and(|error| error.code == "text"));
    }
}
