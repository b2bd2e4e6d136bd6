//! Streaming pickle writer that preserves sharing.
//!
//! It writes the same opcodes as the two picklers of PyTorch, so that every reader of snapshots can read the files:
//! CPython's C pickler behind `_dump_snapshot`, and torch's own C++ pickler behind `_memory_snapshot_pickled`.
//! Bytes leave in pieces of about 64 KiB, so that no file is ever in memory as a whole.
//!
//! | | `Python`, `Python5` | `Torch` |
//! |---|---|---|
//! | container | opened, memoized, filled in batches of 1000 | opened, filled in one batch, memoized where shared |
//! | string | a new object each time | one object per distinct string |
//! | integer beyond 32 bits | as many bytes as it needs | always 8 bytes, signed |
//! | frames | of at least 64 KiB, except the last one | none |
//!
//! Recordings are in the style of `Torch` but in batches, without which PyTorch's own page cannot open them.

use hashbrown::HashMap;

/// A CPython frame closes at the first value after this many bytes (`FRAME_SIZE_TARGET` in `_pickle.c`).
const FRAME_BYTES: usize = 64 * 1024;
/// A shorter frame is written without its header (`FRAME_SIZE_MIN`).
const MIN_FRAME_BYTES: usize = 4;
const FRAME_HEADER_BYTES: usize = 9;
/// Items in one `APPENDS` or `SETITEMS` of CPython (`BATCHSIZE`).
const BATCH_ITEMS: usize = 1000;

/// Pickler whose output the writer reproduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// CPython's C pickler, protocol 4: `pickle.dump` up to Python 3.13.
    Python,
    /// CPython's C pickler, protocol 5: `pickle.dump` from Python 3.14 on.
    Python5,
    /// torch's C++ pickler, protocol 2.
    Torch,
}

impl Style {
    /// Returns the argument of `PROTO`.
    pub fn protocol(self) -> u8 {
        match self {
            Self::Torch => 2,
            Self::Python => 4,
            Self::Python5 => 5,
        }
    }
}

/// Handle to a value that has been written, valid for the [`Writer`] that issued it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoId(u32);

/// Writes one pickle into a sink, value after value.
///
/// A container is begun with its length and ended after that many values; a dictionary takes keys and values in turn.
#[derive(Debug)]
pub struct Writer<S> {
    style: Style,
    is_batched: bool,
    sink: S,
    /// Bytes that the sink has not received; within a frame, it begins with the space for the frame's header.
    buffer: Vec<u8>,
    in_frame: bool,
    open: Vec<Open>,
    next_memo: u32,
    /// Strings that must not be written twice: dictionary keys, and in torch's style every string.
    known: HashMap<Box<str>, MemoId>,
}

/// Container that is being filled.
#[derive(Debug)]
struct Open {
    memo: Option<MemoId>,
    /// Number of values still to come.
    missing: usize,
    /// Number of values that the current batch still takes; 0 before a batch begins.
    batch: usize,
    /// Number of values in a full batch.
    batch_values: usize,
    /// Opcode that stores a batch.
    store: u8,
}

impl<S: FnMut(&[u8])> Writer<S> {
    /// Creates a writer and writes the protocol number.
    pub fn new(style: Style, sink: S) -> Self {
        let buffer = vec![b'\x80', style.protocol()];
        let known = HashMap::new();
        let is_batched = style != Style::Torch;
        Self { style, is_batched, sink, buffer, in_frame: false, open: Vec::new(), next_memo: 0, known }
    }

    /// Fills containers in batches as CPython does, whatever the style.
    ///
    /// Some readers pass the items of a batch as arguments of a call, whose number is limited.
    #[must_use]
    pub fn in_batches(self) -> Self {
        Self { is_batched: true, ..self }
    }

    pub fn none(&mut self) {
        self.atom(b"N");
    }

    pub fn bool(&mut self, value: bool) {
        self.atom(if value { b"\x88" } else { b"\x89" });
    }

    /// Writes an integer.
    ///
    /// In torch's style, an integer beyond 32 bits is reduced to its low 64 bits and written as a signed number, as
    /// `torch.cuda` does with addresses.
    pub fn int(&mut self, value: impl Into<i128>) {
        self.before_value();
        self.put_int(value.into());
        self.after_value();
    }

    pub fn float(&mut self, value: f64) {
        self.before_value();
        self.put(b"G");
        self.put(&value.to_be_bytes());
        self.after_value();
    }

    pub fn int_pair(&mut self, first: u64, second: u64) {
        self.before_value();
        for element in [first, second] {
            self.close_full_frame();
            self.put_int(element.into());
        }
        self.put(b"\x86");
        if self.style != Style::Torch {
            self.memoize();
        }
        self.after_value();
    }

    /// Writes a string and returns the handle under which it can be written again.
    ///
    /// In the Python styles, this is a new object each time; torch's style refers back to an equal string.
    pub fn text(&mut self, text: &str) -> MemoId {
        if self.style == Style::Torch {
            return self.key(text);
        }
        self.before_value();
        let memo = self.put_text(text);
        self.after_value();
        memo
    }

    /// Writes a string that is one object wherever it occurs, such as a dictionary key.
    pub fn key(&mut self, text: &str) -> MemoId {
        if let Some(&memo) = self.known.get(text) {
            self.again(memo);
            return memo;
        }
        self.before_value();
        let memo = self.put_text(text);
        self.after_value();
        self.known.insert(text.into(), memo);
        memo
    }

    /// Writes a reference to a value that has been written before.
    pub fn again(&mut self, memo: MemoId) {
        self.before_value();
        match u8::try_from(memo.0) {
            Ok(index) => self.put(&[b'h', index]),
            Err(_) => self.put_with(b'j', &memo.0.to_le_bytes()),
        }
        self.after_value();
    }

    pub fn begin_list(&mut self, len: usize) {
        self.begin(b"]", len, 1, if len == 1 && self.style != Style::Torch { b'a' } else { b'e' });
    }

    pub fn begin_dict(&mut self, len: usize) {
        self.begin(b"}", len * 2, 2, if len == 1 && self.style != Style::Torch { b's' } else { b'u' });
    }

    /// Ends the innermost container.
    ///
    /// # Panics
    /// Panics if the container did not receive the number of values it was begun with.
    pub fn end(&mut self) {
        self.close();
        self.after_value();
    }

    /// Ends the innermost container and returns the handle under which it can be written again.
    ///
    /// # Panics
    /// Panics if the container did not receive the number of values it was begun with.
    pub fn end_shared(&mut self) -> MemoId {
        let open = self.close();
        let memo = open.memo.unwrap_or_else(|| self.binput());
        self.after_value();
        memo
    }

    /// Ends the pickle and passes the last bytes to the sink.
    ///
    /// # Panics
    /// Panics if a container is still open.
    pub fn finish(mut self) {
        assert!(self.open.is_empty(), "{} containers are still open", self.open.len());
        self.put(b".");
        self.close_frame();
        self.drain();
    }

    fn atom(&mut self, opcode: &[u8]) {
        self.before_value();
        self.put(opcode);
        self.after_value();
    }

    fn begin(&mut self, opcode: &[u8], values: usize, values_per_item: usize, store: u8) {
        self.before_value();
        self.put(opcode);
        let memo = (self.style != Style::Torch).then(|| self.memoize());
        let (batch, batch_values) = if self.is_batched {
            (0, values_per_item * BATCH_ITEMS)
        } else {
            self.put(b"(");
            (values, values)
        };
        self.open.push(Open { memo, missing: values, batch, batch_values, store });
    }

    fn close(&mut self) -> Open {
        let open = self.open.pop().expect("a container is open");
        assert_eq!(open.missing, 0, "values missing in the container");
        if !self.is_batched {
            self.put(&[open.store]);
        }
        open
    }

    /// Begins a batch if one is due, and ends the frame if it is full.
    fn before_value(&mut self) {
        if let Some(open) = self.open.last_mut() {
            assert!(open.missing > 0, "the container is full");
            if open.batch == 0 {
                open.batch = open.batch_values.min(open.missing);
                if matches!(open.store, b'e' | b'u') {
                    self.put(b"(");
                }
            }
        }
        self.close_full_frame();
    }

    fn close_full_frame(&mut self) {
        let header_bytes = if self.in_frame { FRAME_HEADER_BYTES } else { 0 };
        if self.buffer.len() >= FRAME_BYTES + header_bytes {
            self.close_frame();
            self.drain();
        }
    }

    /// Counts a value and stores the batch that it completes.
    fn after_value(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        open.missing -= 1;
        open.batch -= 1;
        if open.batch == 0 && self.is_batched {
            let store = open.store;
            self.put(&[store]);
        }
    }

    fn put_int(&mut self, value: i128) {
        if let Ok(value) = u8::try_from(value) {
            self.put(&[b'K', value]);
        } else if let Ok(value) = u16::try_from(value) {
            self.put_with(b'M', &value.to_le_bytes());
        } else if let Ok(value) = i32::try_from(value) {
            self.put_with(b'J', &value.to_le_bytes());
        } else {
            let len = if self.style == Style::Torch { 8 } else { signed_len(value) };
            self.put(&[b'\x8a', len as u8]);
            self.put(&value.to_le_bytes()[..len]);
        }
    }

    fn put_text(&mut self, text: &str) -> MemoId {
        let mut header = [0; FRAME_HEADER_BYTES];
        let header = text_header(self.style, text.len(), &mut header);
        if self.style != Style::Torch && text.len() >= FRAME_BYTES {
            // CPython writes a large text between two frames.
            self.close_frame();
            self.buffer.extend_from_slice(header);
            self.drain();
            (self.sink)(text.as_bytes());
        } else {
            self.put(header);
            self.put(text.as_bytes());
        }
        if self.style == Style::Torch { self.binput() } else { self.memoize() }
    }

    /// Writes CPython's `MEMOIZE`, whose index is implied.
    fn memoize(&mut self) -> MemoId {
        self.put(b"\x94");
        self.next_memo()
    }

    /// Writes torch's `BINPUT` or `LONG_BINPUT`.
    fn binput(&mut self) -> MemoId {
        let memo = self.next_memo();
        match u8::try_from(memo.0) {
            Ok(index) => self.put(&[b'q', index]),
            Err(_) => self.put_with(b'r', &memo.0.to_le_bytes()),
        }
        memo
    }

    fn next_memo(&mut self) -> MemoId {
        let memo = MemoId(self.next_memo);
        self.next_memo = self.next_memo.checked_add(1).expect("fewer than 2^32 memo entries");
        memo
    }

    fn put_with<const N: usize>(&mut self, opcode: u8, argument: &[u8; N]) {
        self.put(&[opcode]);
        self.put(argument);
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        if !self.in_frame && self.style != Style::Torch {
            self.drain();
            self.buffer.resize(FRAME_HEADER_BYTES, 0);
            self.in_frame = true;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Fills in the header of the current frame, or removes it if the frame is too short for one.
    fn close_frame(&mut self) {
        if !self.in_frame {
            return;
        }
        self.in_frame = false;
        let content_bytes = self.buffer.len() - FRAME_HEADER_BYTES;
        if content_bytes < MIN_FRAME_BYTES {
            self.buffer.drain(..FRAME_HEADER_BYTES);
            return;
        }
        self.buffer[0] = b'\x95';
        self.buffer[1..FRAME_HEADER_BYTES].copy_from_slice(&(content_bytes as u64).to_le_bytes());
    }

    fn drain(&mut self) {
        (self.sink)(&self.buffer);
        self.buffer.clear();
    }
}

/// Returns the length of the shortest two's complement form, in bytes.
fn signed_len(value: i128) -> usize {
    let magnitude = if value < 0 { !value } else { value };
    (128 - magnitude.leading_zeros() as usize) / 8 + 1
}

fn text_header(style: Style, len: usize, header: &mut [u8; FRAME_HEADER_BYTES]) -> &[u8] {
    let bytes = (len as u64).to_le_bytes();
    let (opcode, width) = match style {
        Style::Python | Style::Python5 if len <= 0xff => (b'\x8c', 1),
        _ if len <= 0xffff_ffff => (b'X', 4),
        // torch's pickler has no opcode for such lengths; every reader of its protocol 2 files knows this one.
        _ => (b'\x8d', 8),
    };
    header[0] = opcode;
    header[1..=width].copy_from_slice(&bytes[..width]);
    &header[..=width]
}

#[cfg(test)]
mod tests {
    use super::*;

    type Sink<'a> = &'a mut dyn FnMut(&[u8]);

    fn written(style: Style, write: impl FnOnce(&mut Writer<Sink<'_>>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut sink = |piece: &[u8]| bytes.extend_from_slice(piece);
        let mut writer = Writer::new(style, &mut sink as Sink<'_>);
        write(&mut writer);
        writer.finish();
        bytes
    }

    /// Compares `body` with what follows the protocol number and the frame header.
    #[track_caller]
    fn check(style: Style, write: impl FnOnce(&mut Writer<Sink<'_>>), body: &[u8]) {
        let bytes = written(style, write);
        let start = if style == Style::Torch { 2 } else { 2 + FRAME_HEADER_BYTES };
        assert_eq!(bytes[..2], [0x80, style.protocol()]);
        assert_eq!(bytes[start..].escape_ascii().to_string(), body.escape_ascii().to_string());
    }

    #[test]
    fn integers_take_the_shortest_form() {
        check(Style::Python, |w| w.int(0xff_ffff_ffff_i64), b"\x8a\x06\xff\xff\xff\xff\xff\x00.");
        check(Style::Python, |w| w.int(u64::MAX), b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.");
        check(Style::Python, |w| w.int(-0x8000_0001_i64), b"\x8a\x05\xff\xff\xff\x7f\xff.");
        check(Style::Python, |w| w.int(-1), b"J\xff\xff\xff\xff.");
        check(Style::Python, |w| w.int_pair(256, 1), b"M\x00\x01K\x01\x86\x94.");
        // Torch wraps addresses to eight bytes.
        check(Style::Torch, |w| w.int(u64::MAX - 1), b"\x8a\x08\xfe\xff\xff\xff\xff\xff\xff\xff.");
        check(Style::Torch, |w| w.int_pair(0, 1), b"K\x00K\x01\x86.");
    }

    #[test]
    fn a_text_is_shared_where_the_style_says_so() {
        let twice = |w: &mut Writer<Sink<'_>>| {
            w.begin_list(2);
            w.text("ab");
            w.text("ab");
            w.end();
        };
        check(Style::Python, twice, b"]\x94(\x8c\x02ab\x94\x8c\x02ab\x94e.");
        check(Style::Torch, twice, b"](X\x02\x00\x00\x00abq\x00h\x00e.");
    }

    #[test]
    fn a_shared_container_is_written_once() {
        let twice = |w: &mut Writer<Sink<'_>>| {
            w.begin_list(2);
            w.begin_dict(1);
            w.key("k");
            w.none();
            let dict = w.end_shared();
            w.again(dict);
            w.end();
        };
        check(Style::Python5, twice, b"]\x94(}\x94\x8c\x01k\x94Nsh\x01e.");
        check(Style::Torch, twice, b"](}(X\x01\x00\x00\x00kq\x00Nuq\x01h\x01e.");
    }

    #[test]
    fn a_short_pickle_has_no_frame() {
        assert_eq!(written(Style::Python, |w| w.bool(true)), b"\x80\x04\x88.");
    }

    #[test]
    fn batches_hold_a_thousand_items() {
        let bytes = written(Style::Python, |w| {
            w.begin_list(2001);
            (0..2001).for_each(|_| w.none());
            w.end();
        });
        assert_eq!(bytes.iter().filter(|&&byte| byte == b'e').count(), 3);
        assert!(bytes.ends_with(b"e(Ne."));
    }

    #[test]
    fn torch_writes_batches_where_they_are_wanted() {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(Style::Torch, |piece: &[u8]| bytes.extend_from_slice(piece)).in_batches();
        writer.begin_list(1002);
        (0..1000).for_each(|_| writer.none());
        writer.begin_list(0);
        let empty = writer.end_shared();
        writer.again(empty);
        writer.end();
        writer.finish();
        assert!(
            bytes.starts_with(b"\x80\x02](NN") && bytes.ends_with(b"NNe(]q\x00h\x00e."),
            "{}",
            bytes.escape_ascii()
        );
    }

    #[test]
    #[should_panic(expected = "values missing")]
    fn a_container_ends_when_it_is_full() {
        written(Style::Torch, |w| {
            w.begin_dict(1);
            w.end();
        });
    }
}
