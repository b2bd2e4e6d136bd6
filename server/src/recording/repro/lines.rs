//! Reads lines of another process, limited in length and in number.

use std::collections::VecDeque;
use std::io::{self, BufRead};

/// Marker that replaces the rest of a long line.
const CUT: &str = " …";

/// Calls `take` with each line, without its line ending and cut after `most_bytes`, until the source ends.
///
/// Invalid UTF-8 is replaced; a last line without a line ending counts. Reading stops when `take` returns false.
///
/// # Errors
///
/// Returns an error if the source cannot be read.
pub(super) fn each_line(
    mut source: impl BufRead,
    most_bytes: usize,
    mut take: impl FnMut(String) -> bool,
) -> io::Result<()> {
    let mut line = Vec::new();
    let mut is_cut = false;
    loop {
        let buffer = source.fill_buf()?;
        let (piece, used, is_end) = match buffer.iter().position(|&byte| byte == b'\n') {
            Some(end) => (&buffer[..end], end + 1, true),
            None => (buffer, buffer.len(), false),
        };
        let is_over = used == 0;
        let room = most_bytes - line.len();
        is_cut |= piece.len() > room;
        line.extend_from_slice(&piece[..piece.len().min(room)]);
        source.consume(used);
        if is_end || (is_over && !line.is_empty()) {
            let text = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
            if !take(if is_cut { text + CUT } else { text }) {
                return Ok(());
            }
            line.clear();
            is_cut = false;
        }
        if is_over {
            return Ok(());
        }
    }
}

/// The last lines of a log.
#[derive(Debug, Default)]
pub(super) struct Tail {
    lines: VecDeque<String>,
}

impl Tail {
    /// Maximum number of lines.
    pub(super) const LINES: usize = 40;

    /// Adds a line and drops the oldest if there are too many.
    pub(super) fn push(&mut self, line: String) {
        if self.lines.len() == Self::LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// Returns the lines, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        self.lines.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &[u8], most_bytes: usize, expected: &[&str]) {
        for buffer_bytes in [1, 3, 100] {
            let mut lines = Vec::new();
            let source = io::BufReader::with_capacity(buffer_bytes, text);
            each_line(source, most_bytes, |line| {
                lines.push(line);
                true
            })
            .unwrap();
            assert_eq!(lines, expected, "read {buffer_bytes} bytes at a time");
        }
    }

    #[test]
    fn lines_end_where_they_should() {
        check(b"", 9, &[]);
        check(b"one\ntwo\r\n\nlast", 9, &["one", "two", "", "last"]);
        check(b"\xff\n", 9, &["\u{fffd}"]);
    }

    #[test]
    fn long_lines_are_cut_and_the_next_is_whole() {
        check(b"123456789\nabc\n", 4, &["1234 …", "abc"]);
        check(b"1234\nabc\n", 4, &["1234", "abc"]);
    }

    #[test]
    fn reading_stops_when_nobody_wants_more() {
        let mut lines = 0;
        each_line(&b"1\n2\n3\n"[..], 9, |_| {
            lines += 1;
            lines < 2
        })
        .unwrap();
        assert_eq!(lines, 2);
    }

    #[test]
    fn a_tail_keeps_the_last_lines() {
        let mut tail = Tail::default();
        (0..1000).for_each(|line| tail.push(line.to_string()));
        let lines = tail.lines();
        assert_eq!((lines.len(), lines[0].as_str(), lines[39].as_str()), (40, "960", "999"));
    }
}
