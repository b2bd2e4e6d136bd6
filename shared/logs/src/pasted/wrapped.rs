//! Joins the lines of an error that a terminal, a mail or a person has wrapped.
//!
//! ```text
//! RuntimeError: CUDA out of memory. Tried to allocate 20.00     58 letters: "GiB" would have been the 62nd,
//! GiB (GPU 0; 79.15 GiB total capacity; 58.30 GiB already       so that the width is at least 58 and at most 61;
//! allocated; 12.80 GiB free)                                    this line fits, too
//! step 3 loss 0.4                                               "step" would have stood in the line before
//! ```
//!
//! A line goes on where the next one continues it at one width: the first word of each line had no room in the line before.
//! Where a sentence ends with a line, only a line about memory continues it. What turns out to say nothing about memory
//! passes line by line.

use crate::host::is_row;
use shared::base::stamp;

/// Words for an error, of which a message of more than one line has one in its first.
const ERRORS: [&str; 9] = ["rror", "RROR", "ut of", "ut Of", "ried to", "nable to", "illed", "XHAUSTED", "xhausted"];

/// Words and units of messages about memory, and of those about processes that were killed.
const MEMORY: [&str; 13] =
    ["emory", "EMORY", "lloc", "LLOC", "KiB", "MiB", "GiB", "kB", "GB", "bytes", "nsufficient", "illed", "space left"];

/// Words of messages about memory that a terminal may cut in two.
const CUT: &str = "allocate allocated allocating allocation allocations allocator allowed already anon-rss array available \
                   block blocks bytes cache cached capacity CUDA desired device error free GiB GPU in insufficient kB KiB \
                   killed larger memory MiB number of out process PyTorch reserved shape shared signal startup stored \
                   tensor tokens total tried trying type unable unallocated use utilization while which write";

/// Beginnings of the sentences and parts of PyTorch's message, which people put in lines of their own.
const PARTS: [&str; 6] = [
    "Tried to allocate ",
    "(GPU ",
    "Including non-PyTorch memory",
    "Of the allocated memory ",
    "reserved by PyTorch",
    "If reserved ",
];

/// Words within other parts of it.
const WITHIN: [&str; 4] = [" has a total capac", " memory in use.", " allowed; ", " is reserved by PyTorch"];

/// Most lines and bytes of a message: 1,000 letters at a width of 40.
const MOST_LINES: usize = 25;
const MOST_BYTES: usize = 4096;

/// Greatest width at which a text is wrapped, and the bytes of such a line with all that can stand before it.
const WIDEST: usize = 170;
const LONGEST: usize = 512;

/// Lines of a message that may go on.
#[derive(Debug, Default)]
pub(super) struct Wrapped {
    lines: Vec<String>,
    /// The lines without the beginning that all of them have, such as a time, a rank or the name of a container.
    joined: String,
    /// Length of the longest line, and the least width at which one more word would have had room in a line.
    width: usize,
    below: usize,
    /// The lines with nothing between them, as a terminal cuts them at its width.
    cut: String,
    /// True if all lines but the last have one length, and if a line ends within a word or number, or at a space.
    is_even: bool,
    ends_within: bool,
}

impl Wrapped {
    /// Reads the next line and passes those that are whole to `visit`.
    pub(super) fn line(&mut self, line: &str, visit: &mut impl FnMut(&str)) {
        if !self.lines.is_empty() {
            if self.takes(line) {
                return;
            }
            self.end(visit);
        }
        // What a shell prints behind a bar of progress ends there.
        let is_of_shell = || line.trim_end().strip_suffix("Killed").is_some_and(|bar| !bar.ends_with(' '));
        let is_error = || ERRORS.iter().any(|word| line.contains(word)) && !is_of_shell();
        if line.len() <= LONGEST && is_error() && !is_row(line) {
            self.joined.push_str(line);
            self.cut.push_str(line);
            self.lines.push(line.to_owned());
            (self.width, self.below, self.is_even, self.ends_within) = (length(line), usize::MAX, true, false);
        } else {
            visit(line);
        }
    }

    /// Passes the lines that still wait to `visit`.
    pub(super) fn finish(mut self, visit: &mut impl FnMut(&str)) {
        self.end(visit);
    }

    fn end(&mut self, visit: &mut impl FnMut(&str)) {
        let joined = if self.is_even && self.ends_within { &self.cut } else { &self.joined };
        match self.lines.len() > 1 && is_about_memory(joined) {
            true => visit(joined),
            false => self.lines.iter().for_each(|line| visit(line)),
        }
        self.lines.clear();
        self.joined.clear();
        self.cut.clear();
    }

    /// Adds a line if it continues the message.
    fn takes(&mut self, line: &str) -> bool {
        let [first, .., last] = [&self.lines[0], &self.lines[self.lines.len() - 1]];
        if self.lines.len() == MOST_LINES || self.joined.len() + line.len() > MOST_BYTES {
            return false;
        }
        let prefix = &line[..shared_prefix(first, line)];
        let text = &line[prefix.len()..];
        let is_open = is_open(&self.joined);
        let Some(word) = text.split_ascii_whitespace().next() else { return false };
        // A message that has come twice shares more than its beginning.
        let is_again = is_about_memory(prefix) || first.split_ascii_whitespace().next() == Some(word);
        if is_again || begins_record(text) {
            return false;
        }
        // A word alone may be longer than the width.
        let width = if text.trim_ascii() == word { self.width } else { self.width.max(length(line)) };
        let below = self.below.min(length(last) + 1 + length(word));
        let fits = width < below && self.width <= WIDEST + prefix.len();
        let has_level = |levels| prefix.split_ascii_whitespace().any(|word| is_level(word, levels));
        let is_end = !is_open && ends_sentence(&self.joined, text);
        let is_part = self.joined.contains("out of memory") && is_part(text);
        if !(fits || is_open || is_part)
            || has_level(&LEVELS[..2])
            || is_end && (has_level(&LEVELS[..3]) || !is_about_memory(text))
        {
            return false;
        }
        let count = |line: &str| line.chars().count();
        self.is_even &= count(last) == count(first) && count(line) <= count(first);
        self.ends_within |= last.ends_with(' ') || text.starts_with(' ') && !is_end;
        (self.width, self.below) = (width, below);
        self.ends_within |= join(&mut self.joined, text);
        self.cut.push_str(text);
        self.lines.push(line.to_owned());
        true
    }
}

/// Appends a text to one that a line has ended; returns true if that was within a number or a word.
fn join(joined: &mut String, text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphabetic() || c == '-';
    let before = &joined[joined.trim_end_matches(is_part).len()..];
    let after = &text[..text.len() - text.trim_start_matches(is_part).len()];
    let is_word = |word: &str| CUT.split(' ').any(|known| known.eq_ignore_ascii_case(word));
    let is_in_word = [before, after].iter().all(|part| !part.is_empty()) && is_word(&format!("{before}{after}"));
    let ends_in_number = joined.trim_end_matches('.').ends_with(|c: char| c.is_ascii_digit());
    let is_within = is_in_word || ends_in_number && text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !is_within {
        joined.truncate(joined.trim_ascii_end().len());
        joined.push(' ');
    }
    joined.push_str(text.trim_ascii_start());
    is_within
}

fn length(line: &str) -> usize {
    line.trim_ascii_end().chars().count()
}

/// Returns the length of the words with which both lines begin, numbers apart.
fn shared_prefix(first: &str, line: &str) -> usize {
    let mut end = 0;
    let mut words = first.split_inclusive(' ');
    for word in line.split_inclusive(' ') {
        if !word.ends_with(' ') || words.next().is_none_or(|other| without_digits(other) != without_digits(word)) {
            break;
        }
        end += word.len();
    }
    end
}

/// Returns a text with a zero for each number.
fn without_digits(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_ascii_digit() {
            true if shape.ends_with('0') => {}
            true => shape.push('0'),
            false => shape.push(c),
        }
    }
    shape
}

/// Returns true for a line that begins something else than the rest of a sentence.
fn begins_record(text: &str) -> bool {
    const BEGINNINGS: [&str; 8] = ["Traceback ", "File \"", "During handling", "The above", "|", "+-", "{", "["];
    const EXCEPTIONS: [&str; 3] = ["Error:", "Exception:", "Warning:"];
    let text = text.trim_ascii_start();
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
        || EXCEPTIONS.iter().any(|name| word.ends_with(name))
        || text.split_ascii_whitespace().take(2).any(|word| is_level(word, &LEVELS))
        // Columns, and a name with its value.
        || rest.contains("   ")
        || is_row(text)
        || stamp::stamp(text).is_some()
        || stamp::leading_time(text).is_some()
        || !stamp::leading_dates(text).is_empty()
}

/// Levels of records, the least first: a logger that prints the first two, or a third one after a sentence, prints
/// another record, where those of errors may be in front of each line of one.
const LEVELS: [&str; 7] = ["DEBUG", "INFO", "WARN", "ERROR", "CRITICAL", "FATAL", "error:"];

/// Returns true for a level, such as `[INFO]` or `WARNING:root:`.
fn is_level(word: &str, levels: &[&str]) -> bool {
    levels.iter().any(|level| word.trim_start_matches(['[', '(', '|']).starts_with(level))
}

fn is_about_memory(text: &str) -> bool {
    MEMORY.iter().any(|word| text.contains(word))
}

/// Returns true for a part of PyTorch's message behind its beginning.
fn is_part(text: &str) -> bool {
    let text = text.trim_ascii_start();
    PARTS.iter().any(|part| text.starts_with(part)) || WITHIN.iter().any(|words| text.contains(words))
}

/// Returns true if a parenthesis has no end.
fn is_open(text: &str) -> bool {
    text.matches('(').count() > text.matches(')').count()
}

/// Returns true if a sentence ends with a text; `next` is what follows.
fn ends_sentence(text: &str, next: &str) -> bool {
    let text = text.trim_ascii_end();
    let goes_on = next.trim_ascii_start().starts_with(|c: char| c.is_ascii_lowercase());
    text.ends_with(['.', '!', '?', '"', '\'', '`']) || text.ends_with(')') && !goes_on
}
