//! Reads numbers and texts of memray's captures, which the recording process writes in its own byte order.

/// Reason why something could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The bytes end before it does.
    Incomplete,
    /// The bytes are not what the format says.
    Damaged,
}

/// Bytes with the position of the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Stop> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..count).ok_or(Stop::Incomplete)?;
        self.at += count;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| Stop::Damaged)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Stop> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn flag(&mut self) -> Result<bool, Stop> {
        self.byte().map(|byte| byte != 0)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Stop> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Stop> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a number with seven bits in each byte, the lowest first.
    pub(super) fn varint(&mut self) -> Result<u64, Stop> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Stop::Damaged)
    }

    /// Reads a number whose lowest bit is its sign.
    pub(super) fn signed(&mut self) -> Result<i64, Stop> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads a number that is stored as its distance from the last one, which it replaces.
    pub(super) fn delta(&mut self, last: &mut u64) -> Result<u64, Stop> {
        *last = last.wrapping_add_signed(self.signed()?);
        Ok(*last)
    }

    /// Reads a text that ends with a zero byte.
    pub(super) fn text(&mut self) -> Result<&'a [u8], Stop> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == 0).ok_or(Stop::Incomplete)?;
        self.at += length + 1;
        Ok(&rest[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_seven_bits_in_each_byte() {
        let mut cursor = Cursor::new(&[0xac, 0x02, 0x03, 0x80], 0);
        assert_eq!((cursor.varint(), cursor.signed()), (Ok(300), Ok(-2)));
        assert_eq!(cursor.varint(), Err(Stop::Incomplete));
        assert_eq!(Cursor::new(&[0xff; 11], 0).varint(), Err(Stop::Damaged));
    }
}
