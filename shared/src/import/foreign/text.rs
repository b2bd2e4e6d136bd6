//! Tells the kinds of texts: logs, scripts and training configs.

use super::config;
use super::kinds::{self, Kind};

/// Returns the kind of a text.
pub(super) fn kind(text: &str) -> Option<&'static Kind> {
    let text = text.trim_start();
    let config = || config::keys_of(text).and_then(|keys| config::kind(keys.into_iter()));
    has_processes(text)
        .then_some(kinds::PS_WITHOUT_MEMORY)
        .or_else(|| is_script(text).then_some(kinds::SCRIPT))
        .or_else(config)
        .or_else(|| is_log(text).then_some(kinds::LOG))
}

/// Returns true if a text has rows of `ps -ef`: `user pid ppid c stime tty time command`.
fn has_processes(text: &str) -> bool {
    const ROWS: usize = 2;
    let is_row = |words: &[&str]| {
        let are_ids = words[..3].iter().all(|word| word.parse::<u32>().is_ok());
        let is_time = |word: &str| word.len() == 8 && word.bytes().filter(|byte| *byte == b':').count() == 2;
        are_ids && words[3].contains(|c: char| c.is_ascii_digit()) && is_time(words[5])
    };
    let rows = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        words.windows(6).filter(|words| is_row(words)).count()
    };
    text.lines().map(rows).sum::<usize>() >= ROWS
}

fn is_script(text: &str) -> bool {
    let is_code = |line: &&str| {
        let is_import = line.starts_with("import ") || (line.starts_with("from ") && line.contains(" import "));
        is_import || line.starts_with("def ") || line.starts_with("class ") || line.starts_with("if __name__ ==")
    };
    let is_marked = text.starts_with("#!") && text.lines().next().is_some_and(|line| line.contains("python"));
    is_marked || text.lines().filter(is_code).count() >= 2
}

fn is_log(text: &str) -> bool {
    const MARKS: &[&str] = &["Traceback (most recent call last)", "it/s]", "s/it]", "INFO", "WARNING", "DEBUG"];
    let is_record = |line: &str| line.starts_with('{') && line.trim_end().ends_with('}');
    MARKS.iter().any(|mark| text.contains(mark)) || text.lines().take(2).filter(|line| is_record(line)).count() == 2
}
