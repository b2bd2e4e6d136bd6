//! The lower bound of decoding: a walk over the opcodes of a pickle that does nothing else.

/// Counts the opcodes; returns `None` for opcodes that snapshots don't use.
pub(crate) fn opcode_scan(bytes: &[u8]) -> Option<u64> {
    let mut at = 0;
    let mut count = 0;
    loop {
        let opcode = *bytes.get(at)?;
        count += 1;
        let data_len = match opcode {
            b'.' => return Some(count),
            b'K' | b'h' | b'q' | 0x80 => 1,
            b'M' => 2,
            b'J' | b'j' | b'r' => 4,
            b'G' | 0x95 => 8,
            0x8c | 0x8a | b'U' | b'C' => 1 + usize::from(*bytes.get(at + 1)?),
            b'X' | b'T' | b'B' => 4 + u32::from_le_bytes(*bytes.get(at + 1..)?.first_chunk()?) as usize,
            b'(' | b'}' | b']' | b')' | b'u' | b's' | b'e' | b'a' | b't' | b'N' | 0x85..=0x89 | 0x94 => 0,
            _ => return None,
        };
        at += 1 + data_len;
    }
}
