//! Decodes opcodes from bytes and calls the machine.

use super::heap::{Error, ErrorKind, Shape};
use super::lesson::Templates;
use super::machine::Machine;
use super::opcode::{self, *};
use super::template::MOST_ITEMS;
use super::{Build, Val, text};
use crate::base::{Scan, Scanned, StringId};
use num_bigint::BigInt;

/// Highest supported protocol.
const MAX_PROTOCOL: u8 = 5;

/// Reads opcodes from the bytes that have arrived.
#[derive(Debug)]
pub(super) struct Scanner<B> {
    pub(super) machine: Machine<B>,
    pub(super) protocol: u8,
    /// Offset of `STOP`.
    pub(super) stop: Option<u64>,
    /// Number of non-zero bytes after `STOP`.
    pub(super) trailing_bytes: u64,
    /// Last short string, because CPython writes "N/A" anew for every event.
    pub(super) last_text: (Vec<u8>, Val),
    pub(super) templates: Templates,
    /// Buffer for the items of the current list.
    pub(super) items: Box<[Val; MOST_ITEMS]>,
}

/// Reason why a step did not happen.
enum Pause {
    /// The opcode's data is incomplete; it has at least this many bytes.
    Needs(usize),
    /// The opcode's data is a line whose end has not arrived.
    NeedsLine,
    Fail(Box<ErrorKind>),
}

impl From<Box<ErrorKind>> for Pause {
    fn from(kind: Box<ErrorKind>) -> Self {
        Self::Fail(kind)
    }
}

impl From<ErrorKind> for Pause {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self::Fail(Box::new(kind))
    }
}

/// Number of data bytes that an opcode took, or why it could not be executed.
type Step = Result<usize, Pause>;

impl<B: Build> Scan for Scanner<B> {
    type Error = Error;

    fn scan(&mut self, input: &[u8], offset: u64) -> Result<Scanned, Error> {
        if offset == 0 && matches!(input.first(), Some(&(EMPTY_DICT | EMPTY_LIST))) {
            // Protocol 1 has no PROTO, but it has opcodes for empty containers, which protocol 0 lacks.
            self.protocol = 1;
        }
        let mut at = 0;
        while self.stop.is_none() {
            at = self.run(input, at, offset)?;
            let Some((&opcode, data)) = input[at..].split_first() else {
                return Ok(Scanned { consumed: at, needed: 1 });
            };
            let place = offset + at as u64;
            match self.step(opcode, data, place) {
                Ok(data_len) => at += 1 + data_len,
                Err(Pause::Needs(bytes)) => return Ok(Scanned { consumed: at, needed: bytes.saturating_add(1) }),
                // Doubling keeps the work linear if a line arrives byte by byte.
                Err(Pause::NeedsLine) => return Ok(Scanned { consumed: at, needed: 2 + 2 * data.len() }),
                Err(Pause::Fail(kind)) => return Err(Error { offset: place, kind: *kind }),
            }
        }
        self.trailing_bytes += input[at..].iter().filter(|&&byte| byte != 0).count() as u64;
        Ok(Scanned { consumed: input.len(), needed: 1 })
    }
}

impl<B: Build> Scanner<B> {
    pub(super) fn new(machine: Machine<B>) -> Self {
        let last_text = (Vec::new(), Val::str(StringId::EMPTY));
        Self {
            machine,
            protocol: 0,
            stop: None,
            trailing_bytes: 0,
            last_text,
            templates: Templates::default(),
            items: Box::new([Val::NONE; MOST_ITEMS]),
        }
    }

    /// Executes one opcode; the common ones of snapshots come first.
    #[inline]
    fn step(&mut self, opcode: u8, data: &[u8], place: u64) -> Step {
        let machine = &mut self.machine;
        match opcode {
            BINGET => {
                let [index] = fixed(data)?;
                machine.get(u64::from(index))?;
                return Ok(1);
            }
            LONG_BINGET => {
                machine.get(u64::from(u32::from_le_bytes(fixed(data)?)))?;
                return Ok(4);
            }
            MEMOIZE => machine.memoize()?,
            BININT1 => {
                let [value] = fixed(data)?;
                machine.push(Val::small_int(i32::from(value)));
                return Ok(1);
            }
            BININT2 => {
                machine.push(Val::small_int(i32::from(u16::from_le_bytes(fixed(data)?))));
                return Ok(2);
            }
            BININT => {
                machine.push(Val::small_int(i32::from_le_bytes(fixed(data)?)));
                return Ok(4);
            }
            LONG1 => return self.long(sized::<1>(data)?, 1),
            SHORT_BINUNICODE => return self.text(sized::<1>(data)?, 1, place),
            EMPTY_DICT => machine.push(Val::FRESH_DICT),
            EMPTY_LIST => machine.push(Val::FRESH_LIST),
            MARK => machine.mark()?,
            SETITEMS => machine.set_items()?,
            APPENDS => machine.append_all()?,
            TUPLE2 => machine.tuple(2)?,
            _ => return self.rare_step(opcode, data, place),
        }
        Ok(0)
    }

    /// Executes opcodes that are rare in snapshots.
    fn rare_step(&mut self, opcode: u8, data: &[u8], place: u64) -> Step {
        let machine = &mut self.machine;
        match opcode {
            NONE => machine.push(Val::NONE),
            NEWTRUE => machine.push(Val::TRUE),
            NEWFALSE => machine.push(Val::FALSE),
            EMPTY_TUPLE => machine.push(Val::EMPTY_TUPLE),
            EMPTY_SET => machine.empty_set(),
            TUPLE1 => machine.tuple(1)?,
            TUPLE3 => machine.tuple(3)?,
            TUPLE => machine.collect(Shape::Tuple)?,
            LIST => machine.collect(Shape::List)?,
            DICT => machine.collect(Shape::Dict)?,
            FROZENSET => machine.collect(Shape::Set)?,
            APPEND => machine.append()?,
            SETITEM => machine.set_item()?,
            ADDITEMS => machine.add_to_set()?,
            POP => machine.discard()?,
            POP_MARK => machine.discard_to_mark()?,
            DUP => machine.duplicate()?,
            STOP => self.stop = Some(place),
            PROTO => return self.protocol(data),
            FRAME => return fixed::<8>(data).map(|_| 8),
            BINFLOAT => {
                machine.push_float(f64::from_be_bytes(fixed(data)?));
                return Ok(8);
            }
            _ => return self.counted_step(opcode, data, place),
        }
        Ok(0)
    }

    /// Executes opcodes with a length or an index in front of their data.
    fn counted_step(&mut self, opcode: u8, data: &[u8], place: u64) -> Step {
        match opcode {
            BINPUT => {
                let [index] = fixed(data)?;
                self.machine.put(u64::from(index), memo_bound(place))?;
                Ok(1)
            }
            LONG_BINPUT => {
                self.machine.put(u64::from(u32::from_le_bytes(fixed(data)?)), memo_bound(place))?;
                Ok(4)
            }
            LONG4 => self.long(signed_sized(data)?, 4),
            BINUNICODE => self.text(sized::<4>(data)?, 4, place),
            BINUNICODE8 => self.text(sized::<8>(data)?, 8, place),
            SHORT_BINSTRING => self.text(sized::<1>(data)?, 1, place),
            BINSTRING => self.text(signed_sized(data)?, 4, place),
            SHORT_BINBYTES => self.bytes(sized::<1>(data)?, 1),
            BINBYTES => self.bytes(sized::<4>(data)?, 4),
            BINBYTES8 | BYTEARRAY8 => self.bytes(sized::<8>(data)?, 8),
            _ => self.line_step(opcode, data, place),
        }
    }

    /// Executes the opcodes of protocol 0 whose data is a line.
    fn line_step(&mut self, opcode: u8, data: &[u8], place: u64) -> Step {
        if !matches!(opcode, INT | LONG | FLOAT | STRING | UNICODE | PUT | GET) {
            return self.object_step(opcode, data);
        }
        let line = line(data)?;
        let machine = &mut self.machine;
        match opcode {
            INT if line == b"00" || line == b"01" => {
                machine.push(if line == b"01" { Val::TRUE } else { Val::FALSE });
            }
            INT | LONG => self.integer(text::parse_int(line)?),
            FLOAT => machine.push_float(text::parse(line, "a decimal float")?),
            STRING => {
                let bytes = text::unquote(line)?;
                self.text(&bytes, 0, place)?;
            }
            UNICODE => {
                let (string, mended) = text::raw_unicode(line)?;
                if mended {
                    machine.builder.mended_text(place);
                }
                machine.push_str(&string);
            }
            PUT => machine.put(text::parse(line, "a memo index")?, memo_bound(place))?,
            _ => machine.get(text::parse(line, "a memo index")?)?,
        }
        Ok(line.len() + 1)
    }

    /// Executes the opcodes of objects for the classes that the builder takes as data, and refuses all others.
    fn object_step(&mut self, opcode: u8, data: &[u8]) -> Step {
        let refused = refuse(opcode, data)?;
        let machine = &mut self.machine;
        let taken = match opcode {
            GLOBAL => self.class_in_lines(data),
            STACK_GLOBAL => machine.class().map(|()| 0),
            NEWOBJ => machine.instance().map(|()| 0),
            BUILD => machine.state().map(|()| 0),
            _ => None,
        };
        taken.ok_or_else(|| refused.into())
    }

    /// Executes `GLOBAL`, which has the module and the name of a class in two lines; returns their length.
    fn class_in_lines(&mut self, data: &[u8]) -> Option<usize> {
        let mut lines = data.split(|&byte| byte == b'\n');
        let names = [lines.next()?, lines.next()?];
        lines.next()?;
        for name in names {
            self.machine.push_str(&text::utf8(name).0);
        }
        self.machine.class()?;
        Some(names[0].len() + names[1].len() + 2)
    }

    fn protocol(&mut self, data: &[u8]) -> Step {
        let [protocol] = fixed(data)?;
        if protocol > MAX_PROTOCOL {
            return Err(ErrorKind::UnknownProtocol(protocol).into());
        }
        self.protocol = protocol;
        Ok(1)
    }

    /// Executes `LONG1` and `LONG4`: a number in two's complement, lowest byte first.
    #[inline]
    fn long(&mut self, bytes: &[u8], header_len: usize) -> Step {
        match bytes.len() {
            0 => self.machine.push(Val::small_int(0)),
            len @ 1..=8 => {
                let fill = if bytes[len - 1] >= 0x80 { 0xff } else { 0 };
                let mut all = [fill; 8];
                all[..len].copy_from_slice(bytes);
                let value = i64::from_le_bytes(all);
                match Val::int(value) {
                    Some(val) => self.machine.push(val),
                    None => self.machine.push_int(i128::from(value)),
                }
            }
            _ => self.integer(BigInt::from_signed_bytes_le(bytes)),
        }
        Ok(header_len + bytes.len())
    }

    fn integer(&mut self, value: BigInt) {
        match i128::try_from(&value) {
            Ok(small) => self.machine.push_int(small),
            Err(_) => {
                let val = self.machine.heap.add_wide(value);
                self.machine.push(val);
            }
        }
    }

    #[inline]
    fn text(&mut self, bytes: &[u8], header_len: usize, place: u64) -> Step {
        let (known, val) = &self.last_text;
        if known == bytes {
            self.machine.push(*val);
        } else {
            self.new_text(bytes, place);
        }
        Ok(header_len + bytes.len())
    }

    fn new_text(&mut self, bytes: &[u8], place: u64) {
        const SHORT: usize = 32;
        let (string, mended) = text::utf8(bytes);
        if mended {
            self.machine.builder.mended_text(place);
        }
        let val = Val::str(self.machine.builder.intern(&string));
        if bytes.len() <= SHORT && !mended {
            let (known, known_val) = &mut self.last_text;
            known.clear();
            known.extend_from_slice(bytes);
            *known_val = val;
        }
        self.machine.push(val);
    }

    fn bytes(&mut self, bytes: &[u8], header_len: usize) -> Step {
        self.machine.push_bytes(bytes);
        Ok(header_len + bytes.len())
    }
}

/// Returns the bound of the memo's dense part, because no pickler uses more memo indices than bytes.
pub(super) fn memo_bound(place: u64) -> u64 {
    place + 1
}

/// Returns the first bytes of an opcode's data.
#[inline]
fn fixed<const N: usize>(data: &[u8]) -> Result<[u8; N], Pause> {
    data.first_chunk().copied().ok_or(Pause::Needs(N))
}

/// Returns the bytes behind their number, which takes `N` bytes.
#[inline]
fn sized<const N: usize>(data: &[u8]) -> Result<&[u8], Pause> {
    let mut len = [0; 8];
    len[..N].copy_from_slice(&fixed::<N>(data)?);
    counted(data, N, u64::from_le_bytes(len))
}

/// Returns the bytes behind their number, which is signed and takes four bytes.
fn signed_sized(data: &[u8]) -> Result<&[u8], Pause> {
    let len = i32::from_le_bytes(fixed(data)?);
    let expected = "a length of at least 0";
    let len = u64::try_from(len).map_err(|_| ErrorKind::Unexpected { expected, found: len.to_string() })?;
    counted(data, 4, len)
}

/// Returns the bytes behind a header that holds their number.
#[inline]
fn counted(data: &[u8], header_len: usize, len: u64) -> Result<&[u8], Pause> {
    let end = usize::try_from(len).ok().and_then(|len| header_len.checked_add(len));
    let end =
        end.ok_or_else(|| Pause::from(ErrorKind::Limit { what: "bytes in one value", limit: usize::MAX as u64 }))?;
    data.get(header_len..end).ok_or(Pause::Needs(end))
}

fn line(data: &[u8]) -> Result<&[u8], Pause> {
    data.iter().position(|&byte| byte == b'\n').map(|end| &data[..end]).ok_or(Pause::NeedsLine)
}

/// Returns the error for an opcode that is not executed, with the requested object if the data names it.
fn refuse(opcode: u8, data: &[u8]) -> Result<ErrorKind, Pause> {
    const LONGEST_NAME: usize = 200;
    let name = match opcode {
        GLOBAL | INST | PERSID | BINPERSID | REDUCE | BUILD | OBJ | NEWOBJ | NEWOBJ_EX | STACK_GLOBAL | EXT1 | EXT2
        | EXT4 | NEXT_BUFFER | READONLY_BUFFER => opcode::name(opcode).unwrap_or_default(),
        _ => return Ok(ErrorKind::UnknownOpcode(opcode)),
    };
    let mut target = String::new();
    if matches!(opcode, GLOBAL | INST | PERSID) {
        let lines = if opcode == PERSID { 1 } else { 2 };
        let mut parts = data.splitn(lines + 1, |&byte| byte == b'\n');
        let found: Vec<&[u8]> = parts.by_ref().take(lines).collect();
        if parts.next().is_none() && data.len() < LONGEST_NAME {
            return Err(Pause::NeedsLine);
        }
        let joined = found.join(&b'.');
        target = String::from_utf8_lossy(&joined[..joined.len().min(LONGEST_NAME)]).into_owned();
    }
    Ok(ErrorKind::Refused { opcode: name, target })
}
