//! Splits bytes that arrive in chunks of any size into lines.

use memchr::{memchr, memchr3};

/// Longest line that is read; of a longer one, only its beginning is kept.
const LONGEST_BYTES: usize = 64 << 10;

/// Splitter that keeps the beginning of a line until the rest of it arrives.
///
/// A carriage return ends a line, too, because progress bars write one instead of a line feed. So does a zero byte, of
/// which two programs leave runs that write to one file.
#[derive(Debug, Default)]
pub struct Lines {
    line: Vec<u8>,
}

impl Lines {
    /// Passes each line that ends in the bytes to `visit`, without its end; bytes that are not UTF-8 are replaced.
    pub fn push(&mut self, bytes: &[u8], mut visit: impl FnMut(&str)) {
        let mut rest = bytes;
        while let Some(end) = memchr3(b'\n', b'\r', 0, rest) {
            let part = &rest[..end];
            rest = &rest[end + 1..];
            match self.line.is_empty() {
                true => visit_line(&part[..part.len().min(LONGEST_BYTES)], &mut visit),
                false => {
                    self.keep(part);
                    self.end(&mut visit);
                }
            }
        }
        self.keep(rest);
    }

    /// Passes the last line to `visit` if it has no end.
    pub fn finish(mut self, mut visit: impl FnMut(&str)) {
        self.end(&mut visit);
    }

    fn keep(&mut self, part: &[u8]) {
        let room = LONGEST_BYTES - self.line.len();
        self.line.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn end(&mut self, visit: &mut impl FnMut(&str)) {
        visit_line(&self.line, visit);
        self.line.clear();
    }
}

/// Returns true if a file with this beginning may be a text.
///
/// Zero bytes stand in runs or at the end of a line, where two programs write to one file; other data has single ones.
pub fn is_text(head: &[u8]) -> bool {
    const RUN: usize = 16;
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, 0 | 7..=13 | 0x1b | 0x7f);
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let mut before = None;
    let mut rest = head;
    while let Some(start) = memchr(0, rest) {
        let zeros = rest[start..].iter().take_while(|byte| **byte == 0).count();
        let is_between =
            rest[..start].last().or(before).is_none_or(is_end) || rest.get(start + zeros).is_some_and(is_end);
        if !is_between && zeros < RUN {
            return false;
        }
        before = Some(&0);
        rest = &rest[start + zeros..];
    }
    !head.contains(&0) || !head.iter().any(is_control)
}

/// Passes a line to `visit` if it is not empty; almost all are UTF-8, which is faster to check than to replace.
fn visit_line(line: &[u8], visit: &mut impl FnMut(&str)) {
    match std::str::from_utf8(line) {
        Ok("") => {}
        Ok(text) => visit(text),
        Err(_) => visit(&String::from_utf8_lossy(line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(chunks: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut splitter) = (Vec::new(), Lines::default());
        for chunk in chunks {
            splitter.push(chunk, |line| lines.push(line.to_owned()));
        }
        splitter.finish(|line| lines.push(line.to_owned()));
        lines
    }

    #[test]
    fn lines_are_the_same_in_chunks_of_any_size() {
        let text = b"one\r\ntwo\n\nthree \xff\rfour";
        let whole = lines_of(&[text]);
        assert_eq!(whole, ["one", "two", "three \u{fffd}", "four"]);
        for size in 1..text.len() {
            assert_eq!(lines_of(&text.chunks(size).collect::<Vec<_>>()), whole, "{size}");
        }
    }

    #[test]
    fn a_text_may_have_zero_bytes_between_lines() {
        for text in ["step 1\n\0\0\0\nstep 2", "\0\0step 1", "step 1\0\n", "no zeros \u{1}"] {
            assert!(is_text(text.as_bytes()), "{text:?}");
        }
        assert!(is_text(format!("ste{}p", "\0".repeat(20)).as_bytes()));
        for data in ["K\0CUDA out of memory", "K\0\0", "\n\0\u{2}", "s\0t\0e\0p\0"] {
            assert!(!is_text(data.as_bytes()), "{data:?}");
        }
        assert_eq!(lines_of(&[b"one\0\0\ntwo\0three"]), ["one", "two", "three"]);
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let lines = lines_of(&[&vec![b'a'; 100_000], b"\nb"]);
        assert_eq!((lines[0].len(), lines[1].as_str()), (LONGEST_BYTES, "b"));
    }
}
