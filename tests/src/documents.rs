//! Compares documents that users and programs get with stored copies, so that no field is lost unnoticed.
//!
//! `UPDATE=1` rewrites the stored documents; a change in them is a change for users and belongs in the CHANGELOG.

use std::fs;

use crate::server::root;

/// Compares a text with the stored document `name`, or stores it with `UPDATE=1`.
#[track_caller]
pub fn check(name: &str, text: &str) {
    check_file(&format!("tests/data/documents/{name}"), text);
}

/// Compares a text with the file at `path`, seen from the repository, or writes the file with `UPDATE=1`.
#[track_caller]
pub fn check_file(path: &str, text: &str) {
    let file = root().join(path);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, text).expect("the document can be written");
    }
    let stored = fs::read_to_string(&file).unwrap_or_default();
    if stored != text {
        panic!("{path} differs; UPDATE=1 stores it anew\n{}", first_difference(&stored, text));
    }
}

fn first_difference(stored: &str, text: &str) -> String {
    let (mut before, mut after) = (stored.lines(), text.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (before.next(), after.next()) {
            (None, None) => return "only in the end of their last lines".to_owned(),
            (before, after) if before == after => {}
            (before, after) => {
                let line = |line: Option<&str>| line.map_or("(no line)".to_owned(), str::to_owned);
                return format!("line {number}\n  stored: {}\n  now:    {}", line(before), line(after));
            }
        }
    }
}

/// Returns the 64-bit FNV-1a hash of `bytes` in hexadecimal, for documents that are too large to store.
pub fn fingerprint(bytes: &[u8]) -> String {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named_and_fingerprints_are_those_of_the_published_vectors() {
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), "line 2\n  stored: b\n  now:    c");
        assert_eq!(first_difference("a\n", "a\nb\n"), "line 2\n  stored: (no line)\n  now:    b");
        assert_eq!(first_difference("a", "a\n"), "only in the end of their last lines");
        assert_eq!(fingerprint(b""), "cbf29ce484222325");
        assert_eq!(fingerprint(b"foobar"), "85944171f73967e8");
    }
}
