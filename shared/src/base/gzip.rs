//! Unpacks files that may be compressed with gzip while they arrive.

use flate2::write::MultiGzDecoder;
use std::borrow::Cow;
use std::io::{self, Write};
use std::mem;

/// Bytes with which a file in gzip begins.
const MAGIC: &[u8] = b"\x1f\x8b";

/// Most bytes that the beginning of a file is unpacked to.
const MOST_HEAD_BYTES: usize = 64 << 10;

/// Takes the bytes of a file as they are unpacked.
pub trait Sink {
    /// Takes the next bytes.
    fn push(&mut self, bytes: &[u8]);
}

/// Passes the bytes of a file on, unpacked if they are compressed.
#[derive(Debug)]
pub struct Unpacker<S: Sink>(Layer<S>);

#[derive(Debug)]
enum Layer<S: Sink> {
    Plain(S),
    Gzip(Box<MultiGzDecoder<Output<S>>>),
    /// The compressed bytes are damaged; the sink has what they unpacked to before.
    Damaged(S),
}

/// Receives what gzip unpacks to.
#[derive(Debug)]
struct Output<S>(S);

impl<S: Sink> Write for Output<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: Sink + Default> Unpacker<S> {
    /// Creates an unpacker for a file with this beginning, which is still to be pushed.
    pub fn new(head: &[u8], sink: S) -> Self {
        Self(match head.starts_with(MAGIC) {
            true => Layer::Gzip(Box::new(MultiGzDecoder::new(Output(sink)))),
            false => Layer::Plain(sink),
        })
    }

    /// Takes the next bytes of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Layer::Plain(sink) => sink.push(bytes),
            Layer::Gzip(decoder) => {
                if decoder.write_all(bytes).is_err() {
                    self.0 = Layer::Damaged(mem::take(&mut decoder.get_mut().0));
                }
            }
            Layer::Damaged(_) => {}
        }
    }

    /// Returns the sink after the last bytes.
    pub fn finish(self) -> S {
        match self.0 {
            Layer::Plain(sink) | Layer::Damaged(sink) => sink,
            Layer::Gzip(mut decoder) => {
                // A file that is cut has unpacked to as much as there is.
                let _ = decoder.try_finish();
                mem::take(&mut decoder.get_mut().0)
            }
        }
    }
}

/// Beginning of an unpacked file.
#[derive(Default)]
struct Head(Vec<u8>);

impl Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = MOST_HEAD_BYTES - self.0.len().min(MOST_HEAD_BYTES);
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if room == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the beginning of a file, unpacked if it is compressed.
pub fn unpacked_head(head: &[u8]) -> Cow<'_, [u8]> {
    if !head.starts_with(MAGIC) {
        return Cow::Borrowed(head);
    }
    let mut unpacked = MultiGzDecoder::new(Head::default());
    // The head ends within the file.
    let _ = unpacked.write_all(head).and_then(|()| unpacked.flush());
    Cow::Owned(mem::take(&mut unpacked.get_mut().0))
}
