//! Keeps the first bytes of a file, which the rules for unreadable files inspect.

use std::borrow::Cow;

/// Number of bytes that are kept.
pub(in super::super) const HEAD_BYTES: usize = 64 << 10;

/// First bytes of a file or of the content of a container.
#[derive(Debug, Default)]
pub(in super::super) struct Head {
    bytes: Vec<u8>,
}

impl Head {
    /// Keeps the bytes that still fit.
    pub(in super::super) fn push(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES - self.bytes.len();
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Returns true if no more bytes fit.
    pub(in super::super) fn is_full(&self) -> bool {
        self.bytes.len() == HEAD_BYTES
    }

    /// Returns true if an editor would show the bytes as text.
    pub(in super::super) fn is_text(&self) -> bool {
        self.text().is_some()
    }

    pub(in super::super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Decodes the bytes as text; returns `None` for binary data.
    ///
    /// Windows shells write UTF-16, and logs contain escape sequences and a stray byte now and then.
    pub(super) fn text(&self) -> Option<Cow<'_, str>> {
        let bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes);
        let of_pairs = |wide: fn([u8; 2]) -> u16| {
            let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|pair| wide([pair[0], pair[1]])).collect();
            Cow::Owned(String::from_utf16_lossy(&units))
        };
        let text = match bytes {
            [0xff, 0xfe, ..] => of_pairs(u16::from_le_bytes),
            [0xfe, 0xff, ..] => of_pairs(u16::from_be_bytes),
            _ => String::from_utf8_lossy(bytes),
        };
        let odd = text.chars().filter(|&c| is_odd(c)).count();
        (!text.trim().is_empty() && odd <= 1 + text.len() / 200).then_some(text).filter(|text| !text.contains('\0'))
    }
}

/// Returns true for characters that text files don't contain; a terminal's control characters are allowed.
fn is_odd(c: char) -> bool {
    c == char::REPLACEMENT_CHARACTER
        || (c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x07' | '\x08' | '\x0c' | '\x1b'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Option<String> {
        let mut head = Head::default();
        bytes.chunks(3).for_each(|chunk| head.push(chunk));
        head.text().map(Cow::into_owned)
    }

    #[test]
    fn texts_are_told_from_other_bytes() {
        assert_eq!(text(b"\xef\xbb\xbfwords").as_deref(), Some("words"));
        assert_eq!(text(b"\xff\xfew\0o\0").as_deref(), Some("wo"));
        assert_eq!(text(b"\xfe\xff\0w\0o").as_deref(), Some("wo"));
        assert_eq!(text(b"100%|\x1b[32m###\x1b[0m\r\n").as_deref(), Some("100%|\x1b[32m###\x1b[0m\r\n"));
        assert!(text("é ".repeat(60).as_bytes()).is_some());
        for bytes in [&b""[..], b" \n", b"a\0b", b"\x80\x04\x95\x8c\x01a\x93", &[b'x', 1, 2, 3]] {
            assert_eq!(text(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn no_more_than_the_head_is_kept() {
        let mut head = Head::default();
        (0..3).for_each(|_| head.push(&[b'x'; 50_000]));
        assert!(head.is_full());
        assert_eq!(head.bytes().len(), HEAD_BYTES);
    }
}
