//! Reads the records of a capture one after another.
//!
//! The form changed three times: formats 8 to 11 have a number for each frame, later ones one for each function, and
//! either may be aggregated. (`records.h`, `record_writer.cpp` and `record_reader.cpp` of memray.)

use super::cursor::{Cursor, Stop};
use super::header::Header;

/// Record, as far as it concerns memory and where it was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record<'a> {
    /// Says nothing about memory.
    Other,
    /// All that was recorded precedes it.
    End,
    /// Zeros, which memray reserves for further records: the process was killed.
    Reserved,
    /// Following records are of this thread.
    Thread(u64),
    /// A function was called, or goes on at another instruction.
    Push(FrameKey),
    /// So many functions returned.
    Pop(u64),
    Code(u64, Code<'a>),
    Change(Change),
    /// Resident memory of the process, and milliseconds since the start.
    Resident {
        bytes: u64,
        ms: u64,
    },
    /// Resident memory and allocated memory at a time since the Unix epoch.
    Snapshot {
        time_ms: u64,
        resident_bytes: u64,
        heap_bytes: u64,
    },
    /// Next frame of an aggregated capture, counted from 0.
    Frame(FrameKey),
    /// Next stack of an aggregated capture, counted from 1: its innermost frame and the stack around it.
    Stack {
        frame: u64,
        parent: u64,
    },
    /// Memory of one stack.
    Sum {
        stack: u64,
        peak: Amount,
        end: Amount,
    },
}

/// Function with the offset of an instruction in it; the offset is 0 in formats in which each line has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FrameKey {
    pub(super) code: u64,
    pub(super) offset: i64,
}

/// Function, or a line of it in formats in which each line has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code<'a> {
    pub(super) function: &'a [u8],
    pub(super) file: &'a [u8],
    /// First line of the function, or the line itself.
    pub(super) line: u64,
    /// Python's table of its lines; `None` for a single line.
    pub(super) table: Option<&'a [u8]>,
}

/// Change of the memory that is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Allocate {
        addr: u64,
        bytes: u64,
    },
    Free {
        addr: u64,
    },
    /// By `mmap`.
    Map {
        addr: u64,
        bytes: u64,
    },
    /// By `munmap`, of any part of what is mapped.
    Unmap {
        addr: u64,
        bytes: u64,
    },
}

/// Memory and the number of its allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub bytes: u64,
    pub count: u64,
}

/// What a function of memray's list of allocators does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Allocate,
    Free,
    Map,
    Unmap,
}

/// Reader of records, with what they refer to.
#[derive(Clone, Debug)]
pub(super) struct Records {
    has_native: bool,
    is_aggregated: bool,
    is_old: bool,
    last: Last,
}

/// Last values of what is stored as differences.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    addr: u64,
    frame: u64,
    line: u64,
    native: u64,
    instruction: u64,
    /// Addresses that a record names by their position, the latest first, from format 12 on.
    recent: [u64; 15],
}

impl Records {
    pub(super) fn new(header: &Header) -> Self {
        Self {
            has_native: header.has_native,
            is_aggregated: header.is_aggregated,
            is_old: header.format < 12,
            last: Last::default(),
        }
    }

    /// Reads the next record; the cursor stays if it is incomplete.
    pub(super) fn next<'a>(&mut self, cursor: &mut Cursor<'a>) -> Result<Record<'a>, Stop> {
        let (at, last) = (cursor.at, self.last);
        let record = match (self.is_aggregated, self.is_old) {
            (true, is_old) => self.aggregated(cursor, is_old),
            (false, true) => self.old(cursor),
            (false, false) => self.new_form(cursor),
        };
        if record == Err(Stop::Incomplete) {
            (cursor.at, self.last) = (at, last);
        }
        record
    }

    /// Reads a record of formats 8 to 11: four bits of type, four bits of flags.
    fn old<'a>(&mut self, cursor: &mut Cursor<'a>) -> Result<Record<'a>, Stop> {
        let token = cursor.byte()?;
        let (kind, flags) = (token & 15, token >> 4);
        match kind {
            0 if flags == 0 => Ok(Record::Reserved),
            0 if flags == 1 => Ok(Record::End),
            1 => {
                let kind = old_kind(flags)?;
                let addr = cursor.delta(&mut self.last.addr)?;
                let bytes = if kind == Kind::Free { 0 } else { cursor.varint()? };
                Ok(Record::Change(Change::new(kind, addr, bytes)))
            }
            2 => {
                let (kind, addr, bytes) = (old_kind(flags)?, cursor.delta(&mut self.last.addr)?, cursor.varint()?);
                cursor.delta(&mut self.last.native)?;
                Ok(Record::Change(Change::new(kind, addr, bytes)))
            }
            3 => {
                let id = cursor.delta(&mut self.last.frame)?;
                let (function, file) = (cursor.text()?, cursor.text()?);
                let line = cursor.delta(&mut self.last.line)?;
                Ok(Record::Code(id, Code { function, file, line, table: None }))
            }
            4 => Ok(Record::Push(FrameKey { code: cursor.delta(&mut self.last.frame)?, offset: 0 })),
            9 => Ok(Record::Pop(u64::from(flags) + 1)),
            11 => Ok(Record::Resident { bytes: cursor.varint()?, ms: cursor.varint()? }),
            other => self.common(other, cursor),
        }
    }

    /// Reads a record of format 12 and later: the highest bit that is set tells its type.
    fn new_form<'a>(&mut self, cursor: &mut Cursor<'a>) -> Result<Record<'a>, Stop> {
        let token = cursor.byte()?;
        match token {
            128.. => self.change(token, cursor),
            64.. => Ok(Record::Push(FrameKey { code: cursor.varint()?, offset: cursor.signed()? })),
            32.. => {
                // Objects are counted nowhere here: their memory is that of allocations.
                self.addr(token >> 1, cursor)?;
                if self.has_native && token & 1 == 1 {
                    cursor.delta(&mut self.last.native)?;
                }
                Ok(Record::Other)
            }
            16.. => Ok(Record::Pop(u64::from(token & 15) + 1)),
            14 => self.code(cursor),
            2 => Ok(Record::Resident { bytes: cursor.varint()?, ms: cursor.varint()? }),
            1 => Ok(Record::End),
            0 => Ok(Record::Reserved),
            other => self.common(other, cursor),
        }
    }

    /// Reads a record of an aggregated capture.
    fn aggregated<'a>(&mut self, cursor: &mut Cursor<'a>, is_old: bool) -> Result<Record<'a>, Stop> {
        match cursor.byte()? {
            1 => Ok(Record::Snapshot {
                time_ms: cursor.u64()?,
                resident_bytes: cursor.u64()?,
                heap_bytes: cursor.u64()?,
            }),
            2 => sum(cursor),
            3 if is_old => Ok(Record::Stack { frame: cursor.u64()?, parent: cursor.u32()?.into() }),
            3 => Ok(Record::Stack { frame: cursor.varint()?, parent: cursor.varint()? }),
            4 if is_old => {
                let id = cursor.u64()?;
                let (function, file, line) = (cursor.text()?, cursor.text()?, u64::from(cursor.u32()?));
                cursor.flag()?;
                Ok(Record::Code(id, Code { function, file, line, table: None }))
            }
            4 => {
                cursor.varint()?;
                let key = FrameKey { code: cursor.varint()?, offset: cursor.signed()? };
                cursor.flag()?;
                Ok(Record::Frame(key))
            }
            13 => {
                cursor.varint()?;
                if self.has_native {
                    cursor.varint()?;
                }
                Ok(Record::Other)
            }
            14 if !is_old => self.code(cursor),
            15 => Ok(Record::End),
            0 => Ok(Record::Reserved),
            other => self.common(other, cursor),
        }
    }

    /// Reads a record that is the same in all forms.
    fn common<'a>(&mut self, kind: u8, cursor: &mut Cursor<'a>) -> Result<Record<'a>, Stop> {
        match kind {
            5 => {
                cursor.delta(&mut self.last.instruction)?;
                cursor.delta(&mut self.last.native)?;
            }
            6 => {}
            7 => {
                cursor.text()?;
                cursor.varint()?;
                cursor.u64()?;
            }
            8 => {
                cursor.u64()?;
                cursor.varint()?;
            }
            10 => drop(cursor.text()?),
            12 => return Ok(Record::Thread(cursor.u64()?)),
            _ => return Err(Stop::Damaged),
        }
        Ok(Record::Other)
    }

    /// Reads a function with the table of its lines.
    fn code<'a>(&mut self, cursor: &mut Cursor<'a>) -> Result<Record<'a>, Stop> {
        let id = cursor.varint()?;
        let (function, file) = (cursor.text()?, cursor.text()?);
        let line = cursor.delta(&mut self.last.line)?;
        let length = usize::try_from(cursor.varint()?).map_err(|_| Stop::Damaged)?;
        Ok(Record::Code(id, Code { function, file, line, table: Some(cursor.take(length)?) }))
    }

    /// Reads an allocation of format 12 and later.
    fn change<'a>(&mut self, token: u8, cursor: &mut Cursor) -> Result<Record<'a>, Stop> {
        let addr = self.addr(token >> 3, cursor)?;
        let allocator = match token & 7 {
            0 => cursor.byte()?,
            common => common,
        };
        let kind = kind(allocator)?;
        if kind == Kind::Free {
            return Ok(Record::Change(Change::Free { addr }));
        }
        if self.has_native {
            cursor.delta(&mut self.last.native)?;
        }
        Ok(Record::Change(Change::new(kind, addr, cursor.varint()?)))
    }

    /// Reads an address: a position among the recent ones, or a new one, of which three bits are left out.
    fn addr(&mut self, position: u8, cursor: &mut Cursor) -> Result<u64, Stop> {
        if let Some(recent) = self.last.recent.get(usize::from(position & 15)) {
            return Ok(*recent);
        }
        let addr = cursor.delta(&mut self.last.addr)? << 3;
        self.last.recent.rotate_right(1);
        self.last.recent[0] = addr;
        Ok(addr)
    }
}

impl Change {
    fn new(kind: Kind, addr: u64, bytes: u64) -> Self {
        match kind {
            Kind::Allocate => Self::Allocate { addr, bytes },
            Kind::Free => Self::Free { addr },
            Kind::Map => Self::Map { addr, bytes },
            Kind::Unmap => Self::Unmap { addr, bytes },
        }
    }
}

/// Returns what an allocator of formats 8 to 11 does.
fn old_kind(allocator: u8) -> Result<Kind, Stop> {
    match allocator {
        2 | 15 => Ok(Kind::Free),
        10 => Ok(Kind::Map),
        11 => Ok(Kind::Unmap),
        1..=14 => Ok(Kind::Allocate),
        _ => Err(Stop::Damaged),
    }
}

/// Returns what an allocator of format 12 and later does.
fn kind(allocator: u8) -> Result<Kind, Stop> {
    match allocator {
        1 | 5 => Ok(Kind::Free),
        14 => Ok(Kind::Map),
        15 => Ok(Kind::Unmap),
        2..=13 => Ok(Kind::Allocate),
        _ => Err(Stop::Damaged),
    }
}

/// Reads the memory of a stack, which is stored with the padding of the process.
fn sum<'a>(cursor: &mut Cursor) -> Result<Record<'a>, Stop> {
    let [_thread, _allocator, _native] = [cursor.u64()?, cursor.u64()?, cursor.u64()?];
    let [stack, _generation] = [cursor.u64()?, cursor.u64()?];
    let [peak_count, end_count] = [cursor.u64()?, cursor.u64()?];
    let [peak_bytes, end_bytes] = [cursor.u64()?, cursor.u64()?];
    let peak = Amount { bytes: peak_bytes, count: peak_count };
    Ok(Record::Sum { stack, peak, end: Amount { bytes: end_bytes, count: end_count } })
}

impl Amount {
    /// Returns the amount with a further one.
    pub(super) fn and(self, other: Self) -> Self {
        Self { bytes: self.bytes.saturating_add(other.bytes), count: self.count.saturating_add(other.count) }
    }
}
