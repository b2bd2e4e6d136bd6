//! Stores what a memory profile says.

use crate::analysis::SourceLine;

/// Memory of a program by place, as a profile shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeapProfile {
    /// Memory by place, the largest first.
    pub uses: Vec<HeapUse>,
    /// Name of the values that are shown, such as `inuse_space`; empty if none are bytes.
    pub value: String,
    /// Names and units of all values, such as `cpu in nanoseconds`.
    pub values: Vec<String>,
    /// True if JAX wrote it: its samples are buffers and programs.
    pub is_jax: bool,
    /// True if the file ends early or is damaged.
    pub is_cut: bool,
    /// Number of samples beyond those that are kept.
    pub left_out: u64,
    pub(super) strings: Vec<String>,
}

/// Memory that one line of a program holds on one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapUse {
    pub(super) key: UseKey,
    pub bytes: u64,
    /// Number of allocations, if the profile has it.
    pub count: u64,
}

/// What tells uses apart; positions in the table of strings, of which 0 is the empty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct UseKey {
    pub(super) kind: u32,
    pub(super) device: u32,
    /// Function, file and line of the user's own code.
    pub(super) own: Option<(u32, u32, u64)>,
    /// Function that the own code called, or the innermost one if no code is the user's own.
    pub(super) called: u32,
}

impl HeapProfile {
    fn text(&self, position: u32) -> &str {
        self.strings.get(position as usize).map_or("", String::as_str)
    }

    /// Returns the kind of memory, such as `buffer`, or an empty text.
    pub fn kind(&self, one: &HeapUse) -> &str {
        self.text(one.key.kind)
    }

    /// Returns the device, such as `gpu:0`, or an empty text.
    pub fn device(&self, one: &HeapUse) -> &str {
        self.text(one.key.device)
    }

    /// Returns the line of the user's own code.
    pub fn own(&self, one: &HeapUse) -> Option<SourceLine> {
        let (function, file, line) = one.key.own?;
        Some(SourceLine { function: self.text(function).to_owned(), file: self.text(file).to_owned(), line })
    }

    /// Returns the function that this line called, or an empty text.
    pub fn called(&self, one: &HeapUse) -> &str {
        self.text(one.key.called)
    }

    /// Returns the bytes of all uses.
    pub fn bytes(&self) -> u64 {
        self.uses.iter().map(|one| one.bytes).fold(0, u64::saturating_add)
    }

    /// Returns bytes and counts by a text of uses, the most bytes first.
    pub fn sums<'a>(&'a self, text: impl Fn(&'a HeapUse) -> &'a str) -> Vec<(&'a str, u64, u64)> {
        let mut sums: Vec<(&str, u64, u64)> = Vec::new();
        for one in &self.uses {
            let name = text(one);
            match sums.iter().position(|(known, ..)| *known == name) {
                Some(position) => {
                    let (_, bytes, count) = &mut sums[position];
                    *bytes = bytes.saturating_add(one.bytes);
                    *count = count.saturating_add(one.count);
                }
                // Labels are few; what a damaged file has beyond them is no device.
                None if sums.len() < 100 => sums.push((name, one.bytes, one.count)),
                None => {}
            }
        }
        sums.sort_by_key(|(_, bytes, _)| std::cmp::Reverse(*bytes));
        sums
    }
}
