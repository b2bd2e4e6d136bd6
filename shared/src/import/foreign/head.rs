//! Keeps the first bytes of a file, which the rules for unreadable files inspect.

use crate::base::is_text;

/// Number of bytes that are kept.
const HEAD_BYTES: usize = 64 << 10;

/// First bytes of a file or of the content of a container.
#[derive(Debug, Default)]
pub(in super::super) struct Head(Vec<u8>);

impl Head {
    /// Keeps the bytes that still fit.
    pub(in super::super) fn push(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES - self.0.len();
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Returns true if no more bytes fit.
    pub(in super::super) fn is_full(&self) -> bool {
        self.0.len() == HEAD_BYTES
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Decodes the bytes as text; returns `None` for binary data.
    ///
    /// Logs contain escape sequences and a stray byte now and then.
    pub(super) fn text(&self) -> Option<String> {
        let text = String::from_utf8_lossy(self.0.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.0));
        let odd = text.chars().filter(|&c| is_odd(c)).count();
        (!text.trim().is_empty() && odd <= 1 + text.len() / 200 && is_text(&self.0)).then(|| text.into_owned())
    }
}

/// Returns true for characters that text files don't contain; a terminal's control characters are allowed.
fn is_odd(c: char) -> bool {
    c == char::REPLACEMENT_CHARACTER
        || (c.is_control() && !matches!(c, '\0' | '\t' | '\n' | '\r' | '\x07' | '\x08' | '\x0c' | '\x1b'))
}
