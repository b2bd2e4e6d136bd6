//! Reads the encoding of Protocol Buffers.

/// Value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Number(u64),
    /// Text, message or packed numbers.
    Bytes(&'a [u8]),
}

/// Start of a field: its number, and where its value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The bytes end within it.
    Cut,
    Invalid,
    Number {
        field: u64,
        value: u64,
        end: usize,
    },
    /// A value of this many bytes from `start` on.
    Bytes {
        field: u64,
        start: usize,
        len: u64,
    },
}

/// Reads a number of seven bits per byte, and returns its length; `None` if the bytes end before.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    const MOST_BYTES: usize = 10;
    let len = bytes.iter().take(MOST_BYTES).position(|byte| *byte < 0x80)? + 1;
    let add = |value: u64, (index, byte): (usize, &u8)| value | u64::from(byte & 0x7f).wrapping_shl(7 * index as u32);
    Some((bytes[..len].iter().enumerate().fold(0, add), len))
}

/// Reads the start of a field.
pub(super) fn start(bytes: &[u8]) -> Start {
    let Some((tag, from)) = varint(bytes) else {
        return if bytes.len() < 10 { Start::Cut } else { Start::Invalid };
    };
    let field = tag >> 3;
    match tag & 7 {
        _ if field == 0 => Start::Invalid,
        0 => match varint(&bytes[from..]) {
            Some((value, len)) => Start::Number { field, value, end: from + len },
            None if bytes.len() - from < 10 => Start::Cut,
            None => Start::Invalid,
        },
        1 => Start::Bytes { field, start: from, len: 8 },
        5 => Start::Bytes { field, start: from, len: 4 },
        2 => match varint(&bytes[from..]) {
            Some((len, width)) => Start::Bytes { field, start: from + width, len },
            None if bytes.len() - from < 10 => Start::Cut,
            None => Start::Invalid,
        },
        _ => Start::Invalid,
    }
}

/// Iterates over the fields of a message, up to the first that is damaged.
pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = (u64, Value<'_>)> {
    let mut rest = message;
    std::iter::from_fn(move || {
        let (field, value, end) = match start(rest) {
            Start::Number { field, value, end } => (field, Value::Number(value), end),
            Start::Bytes { field, start, len } => {
                let end = start.checked_add(usize::try_from(len).ok()?)?;
                (field, Value::Bytes(rest.get(start..end)?), end)
            }
            Start::Cut | Start::Invalid => return None,
        };
        rest = &rest[end..];
        Some((field, value))
    })
}

impl Value<'_> {
    /// Returns a number; 0 for other values.
    pub(super) fn number(self) -> u64 {
        if let Self::Number(value) = self { value } else { 0 }
    }

    /// Adds the numbers of a repeated field, packed or not.
    pub(super) fn add_to(self, numbers: &mut Vec<u64>) {
        match self {
            Self::Number(value) => numbers.push(value),
            Self::Bytes(mut packed) => {
                while let Some((value, len)) = varint(packed) {
                    numbers.push(value);
                    packed = &packed[len..];
                }
            }
        }
    }
}
