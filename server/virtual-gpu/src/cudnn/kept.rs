//! Keeps the answers of the real cuDNN, in memory and in a file of the user's cache folder.

use std::collections::HashMap;
use std::ffi::c_int;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use super::status::{NOT_SUPPORTED, SUCCESS};

/// Largest file of answers; a larger one is begun anew.
const MOST_BYTES: u64 = 32 << 20;

/// What the real library says to a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub(super) status: c_int,
    pub(super) numbers: Vec<i64>,
}

/// A 128-bit FNV-1a hash; std's hasher may be another one in another version of Rust, which would ask everything again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key(u128);

impl Default for Key {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Key {
    /// Adds a part of what is asked, with its length, so that no two questions have the same bytes.
    pub(super) fn add(&mut self, part: &[u8]) {
        (part.len() as u64).to_le_bytes().iter().chain(part).for_each(|&byte| self.add_byte(byte));
    }

    fn add_byte(&mut self, byte: u8) {
        const PRIME: u128 = (1 << 88) + 0x13b;
        self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(PRIME);
    }
}

/// Answers by the key of their question.
pub(super) struct Answers {
    pub(super) known: HashMap<Key, Reply>,
    file: Option<File>,
}

impl Answers {
    /// Reads the answers of a file, in which each line has a key, a status and the numbers.
    pub(super) fn read(path: Option<&Path>) -> Self {
        let Some(path) = path else { return Self { known: HashMap::new(), file: None } };
        if fs::metadata(path).is_ok_and(|data| data.len() > MOST_BYTES) {
            let _ = fs::remove_file(path);
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        // A last line without its end was being written when its process was killed.
        let complete = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
        let known = complete.lines().filter_map(parse).collect();
        if let Some(folder) = path.parent() {
            let _ = fs::create_dir_all(folder);
        }
        Self { known, file: File::options().append(true).create(true).open(path).ok() }
    }

    /// Adds an answer; the next process asks again for one that cannot be written, and for a failure of the library,
    /// which a part that is missing can cause.
    pub(super) fn add(&mut self, key: Key, reply: Reply) {
        let is_lasting = matches!(reply.status, SUCCESS | NOT_SUPPORTED);
        if let (true, Some(file)) = (is_lasting, &mut self.file) {
            let numbers: String = reply.numbers.iter().map(|number| format!(" {number}")).collect();
            let _ = file.write_all(format!("{:x} {}{numbers}\n", key.0, reply.status).as_bytes());
        }
        self.known.insert(key, reply);
    }
}

fn parse(line: &str) -> Option<(Key, Reply)> {
    let mut words = line.split(' ');
    let key = Key(u128::from_str_radix(words.next()?, 16).ok()?);
    let status = words.next()?.parse().ok()?;
    let numbers = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    Some((key, Reply { status, numbers }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_same_in_every_build() {
        let mut key = Key::default();
        key.add_byte(b'a');
        assert_eq!(key.0, 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964, "the published hash of `a`");
        let of = |parts: &[&[u8]]| {
            let mut key = Key::default();
            parts.iter().for_each(|part| key.add(part));
            key
        };
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
    }

    #[test]
    fn answers_are_read_again_up_to_a_line_that_was_cut() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("cache/answers");
        let reply = Reply { status: SUCCESS, numbers: vec![38, -1] };
        let mut answers = Answers::read(Some(&path));
        answers.add(Key(7), reply.clone());
        answers.add(Key(6), Reply { status: 4001, numbers: Vec::new() });
        let mut file = File::options().append(true).open(&path).expect("the file was made");
        file.write_all(b"8 3000\nnonsense\n9 0 65").expect("it can be written");
        let known = Answers::read(Some(&path)).known;
        assert_eq!(known.get(&Key(7)), Some(&reply));
        assert_eq!(known.get(&Key(8)), Some(&Reply { status: 3000, numbers: Vec::new() }));
        assert_eq!(known.len(), 2);
    }
}
