//! Extracts the snapshot from pages of `trace_plot` and `segment_plot`: base64 inside a script.
//!
//! Source of the form: `_format_viz` in `torch/cuda/_memory_viz.py`.

use super::error::{CUT_OFF, DAMAGED, HINT_CUT, ImportError};

const MARKER: &[u8] = b"\"base64\":";
pub(super) const HINT_PAGE: &str =
    "Open the pickle itself, or a page that trace_plot (torch 2.1 or later) made from it.";

/// Incremental decoder that finds and decodes the base64 text of a page.
#[derive(Debug, Default)]
pub(super) struct HtmlDecoder {
    state: State,
    seen_bytes: u64,
    /// Bits of the base64 digits that don't fill a group yet; `digits` is their number.
    group: u32,
    digits: u32,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    /// Searching for the marker.
    #[default]
    Searching,
    Matched(usize),
    /// Behind the marker, in front of the opening quote.
    Quote,
    Text,
    Done,
}

impl HtmlDecoder {
    /// Decodes the next bytes of the page and appends the content to `decoded`.
    pub(super) fn push(&mut self, bytes: &[u8], decoded: &mut Vec<u8>) -> Result<(), ImportError> {
        for &byte in bytes {
            self.step(byte, decoded)?;
            self.seen_bytes += 1;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), ImportError> {
        match self.state {
            State::Done => Ok(()),
            State::Text => {
                let error = ImportError::new(CUT_OFF, "The page ends in the middle of its snapshot", HINT_CUT);
                Err(error.at(self.seen_bytes))
            }
            _ => {
                let message = "The HTML page has no base64-encoded snapshot";
                Err(ImportError::new("page-without-a-snapshot", message, HINT_PAGE))
            }
        }
    }

    fn step(&mut self, byte: u8, decoded: &mut Vec<u8>) -> Result<(), ImportError> {
        match self.state {
            State::Searching if byte == MARKER[0] => self.state = State::Matched(1),
            State::Searching | State::Done => {}
            State::Matched(n) => {
                self.state = match byte {
                    _ if byte == MARKER[n] && n + 1 == MARKER.len() => State::Quote,
                    _ if byte == MARKER[n] => State::Matched(n + 1),
                    // The quote is the only byte at which a new match can begin.
                    b'"' => State::Matched(1),
                    _ => State::Searching,
                }
            }
            State::Quote if byte == b'"' => self.state = State::Text,
            State::Quote if byte.is_ascii_whitespace() => {}
            State::Quote => self.state = State::Searching,
            State::Text => self.digit(byte, decoded)?,
        }
        Ok(())
    }

    fn digit(&mut self, byte: u8, decoded: &mut Vec<u8>) -> Result<(), ImportError> {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'"' | b'=' => {
                self.flush(decoded);
                if byte == b'"' {
                    self.state = State::Done;
                }
                return Ok(());
            }
            _ => {
                let found = char::from(byte);
                let message = format!("Expected base64 text in the page, found {found:?}");
                return Err(ImportError::new(DAMAGED, message, HINT_PAGE).at(self.seen_bytes));
            }
        };
        self.group = self.group << 6 | u32::from(value);
        self.digits += 1;
        if self.digits == 4 {
            decoded.extend_from_slice(&self.group.to_be_bytes()[1..]);
            (self.group, self.digits) = (0, 0);
        }
        Ok(())
    }

    /// Decodes the one or two bytes of an incomplete last group.
    fn flush(&mut self, decoded: &mut Vec<u8>) {
        if self.digits > 1 {
            let bytes = (self.group << (6 * (4 - self.digits))).to_be_bytes();
            decoded.extend_from_slice(&bytes[1..self.digits as usize]);
        }
        (self.group, self.digits) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(page: &str, content: &[u8]) {
        for size in [1, 2, 5, 1000] {
            let mut decoder = HtmlDecoder::default();
            let mut decoded = Vec::new();
            page.as_bytes().chunks(size).for_each(|chunk| decoder.push(chunk, &mut decoded).unwrap());
            decoder.finish().unwrap();
            assert_eq!(decoded, content, "chunks of {size}");
        }
    }

    #[test]
    fn the_text_behind_the_marker_is_decoded() {
        check(r#"<script>x = [{"name": "a", "base64": "aGVsbG8="}]"#, b"hello");
        check(r#"<p>""base64":"aGVsbG8h" "base64": "AAAA""#, b"hello!");
        check(r#"<"base64": 1, "base64": "aGVsbA==""#, b"hell");
    }

    #[test]
    fn a_page_without_a_snapshot_is_an_error() {
        let mut decoder = HtmlDecoder::default();
        decoder.push(b"<html></html>", &mut Vec::new()).unwrap();
        assert!(decoder.finish().unwrap_err().message.contains("has no base64-encoded snapshot"));
    }
}
