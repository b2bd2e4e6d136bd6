//! Cuts bytes that arrive in chunks of any size into tokens or lines, and unpacks files that gzip may have compressed.

use flate2::write::MultiGzDecoder;
use memchr::{memchr, memchr3};
use std::borrow::Cow;
use std::io::{self, Write};
use std::mem;

/// Result of one [`Scan::scan`] call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// Length of the complete tokens in bytes; the scanner will not see them again.
    pub consumed: usize,
    /// Minimum length of the next token in bytes, counted from its start.
    pub needed: usize,
}

/// Tokenizer that stops in front of an incomplete token.
pub trait Scan {
    type Error;

    /// Consumes the complete tokens at the start of `input`, which begins at byte `offset` of the stream.
    fn scan(&mut self, input: &[u8], offset: u64) -> Result<Scanned, Self::Error>;
}

/// Buffer for the token that the last chunk ended within.
///
/// Memory grows with the bytes that have arrived, never with a length that a token merely claims.
#[derive(Debug, Default)]
pub struct Feed {
    rest: Vec<u8>,
    offset: u64,
    needed: usize,
}

impl Feed {
    /// Returns the stream offset of the first byte that belongs to no complete token yet.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the bytes that belong to no complete token yet.
    pub fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// Passes the next bytes to the scanner.
    pub fn push<S: Scan>(&mut self, mut bytes: &[u8], scanner: &mut S) -> Result<(), S::Error> {
        while !bytes.is_empty() && !self.rest.is_empty() {
            bytes = self.push_to_rest(bytes, scanner)?;
        }
        if !bytes.is_empty() {
            let Scanned { consumed, needed } = scanner.scan(bytes, self.offset)?;
            self.offset += consumed as u64;
            self.needed = needed;
            self.rest.extend_from_slice(&bytes[consumed..]);
        }
        Ok(())
    }

    /// Passes the remaining bytes to the scanner once more, because no more bytes will come.
    pub fn finish<S: Scan>(&mut self, scanner: &mut S) -> Result<(), S::Error> {
        if !self.rest.is_empty() {
            let Scanned { consumed, .. } = scanner.scan(&self.rest, self.offset)?;
            self.offset += consumed as u64;
            self.rest.drain(..consumed);
        }
        Ok(())
    }

    /// Completes the token in `rest` with bytes of the chunk and returns the remainder of the chunk.
    fn push_to_rest<'a, S: Scan>(&mut self, bytes: &'a [u8], scanner: &mut S) -> Result<&'a [u8], S::Error> {
        const SOME: usize = 64;
        let old = self.rest.len();
        let taken = self.needed.saturating_sub(old).max(SOME).min(bytes.len());
        self.rest.extend_from_slice(&bytes[..taken]);
        if self.rest.len() < self.needed {
            return Ok(&bytes[taken..]);
        }
        let Scanned { consumed, needed } = scanner.scan(&self.rest, self.offset)?;
        self.offset += consumed as u64;
        self.needed = needed;
        if consumed >= old {
            // From here on, the chunk itself can be scanned without copying.
            self.rest.clear();
            return Ok(&bytes[consumed - old..]);
        }
        self.rest.drain(..consumed);
        Ok(&bytes[taken..])
    }
}

/// Longest line that is read; of a longer one, only its beginning is kept.
const LONGEST_BYTES: usize = 64 << 10;

/// Splitter that keeps the beginning of a line until the rest of it arrives.
///
/// A carriage return ends a line, too, because progress bars write one instead of a line feed. So does a zero byte, of
/// which two programs leave runs that write to one file.
#[derive(Debug, Default)]
pub struct Lines {
    line: Vec<u8>,
}

impl Lines {
    /// Passes each line that ends in the bytes to `visit`, without its end; bytes that are not UTF-8 are replaced.
    pub fn push(&mut self, bytes: &[u8], mut visit: impl FnMut(&str)) {
        let mut rest = bytes;
        while let Some(end) = memchr3(b'\n', b'\r', 0, rest) {
            let part = &rest[..end];
            rest = &rest[end + 1..];
            match self.line.is_empty() {
                true => visit_line(&part[..part.len().min(LONGEST_BYTES)], &mut visit),
                false => {
                    self.keep(part);
                    self.end(&mut visit);
                }
            }
        }
        self.keep(rest);
    }

    /// Passes the last line to `visit` if it has no end.
    pub fn finish(mut self, mut visit: impl FnMut(&str)) {
        self.end(&mut visit);
    }

    fn keep(&mut self, part: &[u8]) {
        let room = LONGEST_BYTES - self.line.len();
        self.line.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn end(&mut self, visit: &mut impl FnMut(&str)) {
        visit_line(&self.line, visit);
        self.line.clear();
    }
}

/// Returns true if a file with this beginning may be a text.
///
/// Zero bytes stand in runs or at the end of a line, where two programs write to one file; other data has single ones.
pub fn is_text(head: &[u8]) -> bool {
    const RUN: usize = 16;
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, 0 | 7..=13 | 0x1b | 0x7f);
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let mut before = None;
    let mut rest = head;
    while let Some(start) = memchr(0, rest) {
        let zeros = rest[start..].iter().take_while(|byte| **byte == 0).count();
        let is_between =
            rest[..start].last().or(before).is_none_or(is_end) || rest.get(start + zeros).is_some_and(is_end);
        if !is_between && zeros < RUN {
            return false;
        }
        before = Some(&0);
        rest = &rest[start + zeros..];
    }
    !head.contains(&0) || !head.iter().any(is_control)
}

/// Passes a line to `visit` if it is not empty; almost all are UTF-8, which is faster to check than to replace.
fn visit_line(line: &[u8], visit: &mut impl FnMut(&str)) {
    match std::str::from_utf8(line) {
        Ok("") => {}
        Ok(text) => visit(text),
        Err(_) => visit(&String::from_utf8_lossy(line)),
    }
}

/// Bytes with which a file in gzip begins.
const MAGIC: &[u8] = b"\x1f\x8b";

/// Most bytes that the beginning of a file is unpacked to.
const MOST_HEAD_BYTES: usize = 64 << 10;

/// Takes the bytes of a file as they are unpacked.
pub trait Sink {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokenizer for tokens of one length byte and that many bytes of data.
    #[derive(Default)]
    struct Lengths {
        tokens: Vec<Vec<u8>>,
        offsets: Vec<u64>,
    }

    impl Scan for Lengths {
        type Error = ();

        fn scan(&mut self, input: &[u8], offset: u64) -> Result<Scanned, ()> {
            let mut consumed = 0;
            loop {
                let rest = &input[consumed..];
                let needed = rest.first().map_or(1, |&len| 1 + usize::from(len));
                if rest.len() < needed {
                    return Ok(Scanned { consumed, needed });
                }
                self.offsets.push(offset + consumed as u64);
                self.tokens.push(rest[1..needed].to_vec());
                consumed += needed;
            }
        }
    }

    #[test]
    fn chunks_of_any_size_give_the_same_tokens() {
        let lengths = [0, 200, 1, 63, 64, 65, 255, 2, 0];
        let stream: Vec<u8> = lengths.iter().flat_map(|&len| std::iter::repeat_n(len, 1 + usize::from(len))).collect();
        for size in [1, 2, 3, 7, 64, 100, 1000] {
            let (mut feed, mut scanner) = (Feed::default(), Lengths::default());
            for chunk in stream.chunks(size) {
                feed.push(chunk, &mut scanner).unwrap();
            }
            let found: Vec<u8> = scanner.tokens.iter().map(|token| token.len() as u8).collect();
            assert_eq!(found, lengths, "chunks of {size}");
            assert_eq!(feed.offset(), stream.len() as u64);
            assert!(feed.rest().is_empty());
            assert_eq!(scanner.offsets[2], 202);
        }
    }

    fn lines_of(chunks: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut splitter) = (Vec::new(), Lines::default());
        for chunk in chunks {
            splitter.push(chunk, |line| lines.push(line.to_owned()));
        }
        splitter.finish(|line| lines.push(line.to_owned()));
        lines
    }

    #[test]
    fn lines_are_the_same_in_chunks_of_any_size() {
        let text = b"one\r\ntwo\n\nthree \xff\rfour";
        let whole = lines_of(&[text]);
        assert_eq!(whole, ["one", "two", "three \u{fffd}", "four"]);
        for size in 1..text.len() {
            assert_eq!(lines_of(&text.chunks(size).collect::<Vec<_>>()), whole, "{size}");
        }
    }

    #[test]
    fn a_text_may_have_zero_bytes_between_lines() {
        for text in ["step 1\n\0\0\0\nstep 2", "\0\0step 1", "step 1\0\n", "no zeros \u{1}"] {
            assert!(is_text(text.as_bytes()), "{text:?}");
        }
        assert!(is_text(format!("ste{}p", "\0".repeat(20)).as_bytes()));
        for data in ["K\0CUDA out of memory", "K\0\0", "\n\0\u{2}", "s\0t\0e\0p\0"] {
            assert!(!is_text(data.as_bytes()), "{data:?}");
        }
        assert_eq!(lines_of(&[b"one\0\0\ntwo\0three"]), ["one", "two", "three"]);
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let lines = lines_of(&[&vec![b'a'; 100_000], b"\nb"]);
        assert_eq!((lines[0].len(), lines[1].as_str()), (LONGEST_BYTES, "b"));
    }
}
