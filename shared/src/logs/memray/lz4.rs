//! Unpacks frames of LZ4 that arrive in chunks.
//!
//! A frame is a sequence of blocks, each of which refers to up to 64 KiB before it (the LZ4 Frame Format and the LZ4 Block
//! Format, github.com/lz4/lz4/tree/dev/doc).
//! memray writes such frames with the defaults of liblz4; checksums are skipped, since what follows is checked anyway.

use super::cursor::{Cursor, Stop};

/// First bytes of a frame.
const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// Bytes that a block may refer to.
const WINDOW_BYTES: usize = 64 << 10;

/// Most bytes that a block unpacks to, by the three bits of the descriptor.
const BLOCK_BYTES: [usize; 8] = [0, 0, 0, 0, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// Bit of a block's length that marks bytes which are stored as they are.
const IS_STORED: u32 = 1 << 31;

/// Unpacker of one frame.
#[derive(Debug, Default)]
pub(super) struct Lz4 {
    /// Bytes from the beginning of the next block on.
    packed: Vec<u8>,
    /// Unpacked bytes: the window, then what has just been unpacked.
    unpacked: Vec<u8>,
    frame: Option<Frame>,
    state: State,
}

/// How far a frame has been unpacked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Within the frame.
    #[default]
    Within,
    Ended,
    Damaged,
}

/// What the descriptor of a frame says.
#[derive(Clone, Copy, Debug)]
struct Frame {
    block_bytes: usize,
    /// Length of the checksum behind each block.
    checksum_bytes: usize,
}

/// Returns true if the beginning of a file is a frame.
pub(super) fn is_lz4(head: &[u8]) -> bool {
    head.starts_with(&MAGIC)
}

/// Returns the first bytes that the beginning of a frame unpacks to; its first block may be cut.
pub(super) fn beginning(head: &[u8]) -> Vec<u8> {
    let (mut cursor, mut unpacked) = (Cursor::new(head, 0), Vec::new());
    let Ok((frame, length)) = Frame::read(&mut cursor).and_then(|frame| Ok((frame, cursor.u32()?))) else {
        return unpacked;
    };
    let block = head.get(cursor.at..).unwrap_or_default();
    let block = &block[..block.len().min((length & !IS_STORED) as usize)];
    // What precedes the cut has been unpacked when it fails.
    let _ = unpack(block, length & IS_STORED != 0, frame.block_bytes, &mut unpacked);
    unpacked
}

impl Lz4 {
    /// Passes what the next bytes unpack to to `visit`.
    pub(super) fn push(&mut self, bytes: &[u8], mut visit: impl FnMut(&[u8])) {
        if self.state != State::Within {
            return;
        }
        self.packed.extend_from_slice(bytes);
        let packed = std::mem::take(&mut self.packed);
        let mut cursor = Cursor::new(&packed, 0);
        let mut done = 0;
        while self.state == State::Within {
            match self.step(&mut cursor, &mut visit) {
                Ok(()) => done = cursor.at,
                Err(Stop::Incomplete) => break,
                Err(Stop::Damaged) => self.state = State::Damaged,
            }
        }
        self.packed = packed;
        self.packed.drain(..done);
    }

    /// Returns how far the frame has been unpacked.
    pub(super) fn state(&self) -> State {
        self.state
    }

    /// Reads the descriptor or one block.
    fn step(&mut self, cursor: &mut Cursor, visit: &mut impl FnMut(&[u8])) -> Result<(), Stop> {
        let Some(frame) = self.frame else {
            self.frame = Some(Frame::read(cursor)?);
            return Ok(());
        };
        let length = cursor.u32()?;
        if length == 0 {
            self.state = State::Ended;
            return Ok(());
        }
        let bytes = (length & !IS_STORED) as usize;
        if bytes > frame.block_bytes {
            return Err(Stop::Damaged);
        }
        let block = cursor.take(bytes)?;
        cursor.take(frame.checksum_bytes)?;
        if self.unpacked.len() > 2 * WINDOW_BYTES {
            self.unpacked.drain(..self.unpacked.len() - WINDOW_BYTES);
        }
        let start = self.unpacked.len();
        let result = unpack(block, length & IS_STORED != 0, frame.block_bytes, &mut self.unpacked);
        visit(&self.unpacked[start..]);
        result
    }
}

impl Frame {
    fn read(cursor: &mut Cursor) -> Result<Self, Stop> {
        let (magic, flags, sizes) = (cursor.array()?, cursor.byte()?, cursor.byte()?);
        if magic != MAGIC || flags >> 6 != 1 {
            return Err(Stop::Damaged);
        }
        let size_bytes = if flags & 8 != 0 { 8 } else { 0 };
        let dictionary_bytes = if flags & 1 != 0 { 4 } else { 0 };
        // The last byte is a checksum of the descriptor.
        cursor.take(size_bytes + dictionary_bytes + 1)?;
        let checksum_bytes = if flags & 16 != 0 { 4 } else { 0 };
        Ok(Self { block_bytes: BLOCK_BYTES[usize::from(sizes >> 4 & 7)], checksum_bytes })
    }
}

/// Appends what a block unpacks to, which is also done with what precedes an error.
fn unpack(block: &[u8], is_stored: bool, most_bytes: usize, unpacked: &mut Vec<u8>) -> Result<(), Stop> {
    if is_stored {
        unpacked.extend_from_slice(block);
        return Ok(());
    }
    let most = unpacked.len() + most_bytes;
    let mut cursor = Cursor::new(block, 0);
    loop {
        let token = cursor.byte()?;
        let literals = length(token >> 4, &mut cursor)?;
        let rest = block.get(cursor.at..).unwrap_or_default();
        unpacked.extend_from_slice(&rest[..rest.len().min(literals)]);
        cursor.take(literals)?;
        if cursor.at == block.len() {
            return Ok(());
        }
        let distance = usize::from(u16::from_le_bytes(cursor.array()?));
        let count = length(token & 15, &mut cursor)? + 4;
        if unpacked.len() + count > most {
            return Err(Stop::Damaged);
        }
        repeat(distance, count, unpacked)?;
    }
}

/// Reads the rest of a length, of which the token has the first part.
fn length(first: u8, cursor: &mut Cursor) -> Result<usize, Stop> {
    let mut length = usize::from(first);
    if first == 15 {
        loop {
            let more = cursor.byte()?;
            length += usize::from(more);
            if more < 255 {
                break;
            }
        }
    }
    Ok(length)
}

/// Appends `count` bytes from `distance` bytes before the end, which may overlap with what they append.
fn repeat(distance: usize, count: usize, unpacked: &mut Vec<u8>) -> Result<(), Stop> {
    let start = unpacked.len().checked_sub(distance).filter(|_| distance > 0).ok_or(Stop::Damaged)?;
    for at in start..start + count {
        let byte = unpacked[at];
        unpacked.push(byte);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "abcabcabcabcX" as a block with an overlapping repetition, then five stored bytes and the end.
    const FRAME: &[u8] = b"\x04\x22\x4d\x18\x40\x40\xc0\x08\0\0\0\x35abc\x03\0\x10X\x05\0\0\x80words\0\0\0\0";

    fn unpacked(bytes: &[u8], size: usize) -> (Vec<u8>, State) {
        let (mut all, mut lz4) = (Vec::new(), Lz4::default());
        bytes.chunks(size).for_each(|chunk| lz4.push(chunk, |part| all.extend_from_slice(part)));
        (all, lz4.state())
    }

    #[test]
    fn frames_are_the_same_in_chunks_of_any_size() {
        for size in [1, 7, 100] {
            assert_eq!(unpacked(FRAME, size), (b"abcabcabcabcXwords".to_vec(), State::Ended), "chunks of {size}");
        }
        assert_eq!(unpacked(&FRAME[..25], 3), (b"abcabcabcabcX".to_vec(), State::Within));
        assert_eq!(beginning(&FRAME[..15]), b"abc");
    }

    #[test]
    fn damaged_frames_end_early() {
        for (at, byte) in [(4, 0), (7, 0xff), (10, 0x7f), (15, 9)] {
            let mut frame = FRAME.to_vec();
            frame[at] = byte;
            assert_ne!(unpacked(&frame, 9).1, State::Ended, "{at}");
        }
    }
}
