//! Pairs the stacks of two profiles.
//!
//! Idea: exact matches are paired first, and the remaining stacks are compared less strictly.
//!
//! ```text
//! before                                      after
//! relu nn:7  < forward net:20                 relu nn:7   < forward net:20           the same
//! mm   nn:9  < forward net:21                 mm   nn:9   < forward net:23           moved lines
//! bmm  C++   < attend net:30 < forward        sdpa < bmm < attend net:31 < forward   one place: `attend`
//! cat data:3 < collate data:5                                                        only before
//! ```
//!
//! Only the last part of a file's path counts, because folders differ between machines.
//! Cost: each level hashes the frames of the stacks that the levels before have left.

use super::profile::{Profile, ProfileFrame, file_tail};
use crate::base::frame_rules;
use hashbrown::HashMap;

/// Criterion by which stacks of the two sides were paired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matched {
    /// All frames are equal, including lines.
    #[default]
    Same,
    /// All frames are equal except for lines, because the code was edited.
    MovedLines,
    /// The innermost frames of the program have the same function and file, but what they call or their callers differ.
    Place,
    /// No counterpart: only the first side has the stack.
    OnlyBefore,
    /// No counterpart: only the second side has the stack.
    OnlyAfter,
}

crate::names!(Matched {
    Same => "same",
    MovedLines => "moved-lines",
    Place => "place",
    OnlyBefore => "only-a",
    OnlyAfter => "only-b",
});

/// Rows of a profile that have the same stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stack {
    /// Positions of the rows, the most bytes first.
    pub(super) rows: Vec<usize>,
}

/// Stack that is on one side or on both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) matched: Matched,
    pub(super) before: Option<Stack>,
    pub(super) after: Option<Stack>,
}

/// Returns all stacks of both profiles, each once.
pub(super) fn pairs(before: &Profile, after: &Profile) -> Vec<Pair> {
    let mut numbers = Numbers::default();
    let sides = [Keys::of(before, &mut numbers), Keys::of(after, &mut numbers)];
    let mut left = sides.each_ref().map(Keys::stacks);
    let mut pairs = Vec::new();
    for level in [Matched::Same, Matched::MovedLines, Matched::Place] {
        left = match_level(level, &sides, left, &mut pairs);
    }
    let [before, after] = left;
    let only = |matched, before, after| Pair { matched, before, after };
    pairs.extend(before.into_iter().map(|stack| only(Matched::OnlyBefore, Some(stack), None)));
    pairs.extend(after.into_iter().map(|stack| only(Matched::OnlyAfter, None, Some(stack))));
    pairs
}

/// Pairs stacks with equal keys, and returns those without a counterpart.
fn match_level(
    level: Matched,
    sides: &[Keys<'_>; 2],
    stacks: [Vec<Stack>; 2],
    pairs: &mut Vec<Pair>,
) -> [Vec<Stack>; 2] {
    let mut left = [Vec::new(), Vec::new()];
    let mut groups: HashMap<Vec<u32>, [Vec<Stack>; 2]> = HashMap::new();
    for (side, stacks) in stacks.into_iter().enumerate() {
        for stack in stacks {
            match sides[side].key(level, stack.rows[0]) {
                Some(key) => groups.entry(key).or_default()[side].push(stack),
                None => left[side].push(stack),
            }
        }
    }
    for [before, after] in groups.into_values() {
        let [before, after] = match level {
            Matched::MovedLines => [sides[0].by_lines(before), sides[1].by_lines(after)],
            // If a place has several stacks, it is unknown which of them correspond.
            Matched::Place if !before.is_empty() && !after.is_empty() => [vec![merged(before)], vec![merged(after)]],
            _ => [before, after],
        };
        let (mut before, mut after) = (before.into_iter(), after.into_iter());
        loop {
            match (before.next(), after.next()) {
                (Some(one), Some(other)) => {
                    pairs.push(Pair { matched: level, before: Some(one), after: Some(other) });
                }
                (None, None) => break,
                (one, other) => {
                    left[0].extend(one);
                    left[1].extend(other);
                }
            }
        }
    }
    left
}

fn merged(stacks: Vec<Stack>) -> Stack {
    let mut rows: Vec<usize> = stacks.into_iter().flat_map(|stack| stack.rows).collect();
    // Profiles list their rows by bytes, so that ascending positions mean descending bytes.
    rows.sort_unstable();
    Stack { rows }
}

/// Numbers for equal frames, common to both files.
#[derive(Default)]
struct Numbers<'a> {
    exact: HashMap<(&'a str, &'a str, u64), u32>,
    loose: HashMap<(&'a str, &'a str), u32>,
}

#[derive(Clone, Copy)]
struct FrameKey {
    exact: u32,
    loose: u32,
    is_program: bool,
}

impl<'a> Numbers<'a> {
    fn key(&mut self, frame: &'a ProfileFrame) -> FrameKey {
        let (name, file) = (frame.name.as_str(), file_tail(&frame.filename));
        let (exact, loose) = (self.exact.len() as u32, self.loose.len() as u32);
        FrameKey {
            exact: *self.exact.entry((name, file, frame.line)).or_insert(exact),
            loose: *self.loose.entry((name, file)).or_insert(loose),
            is_program: !frame_rules::is_runtime(&frame.filename),
        }
    }
}

/// Profile with the numbers of its frames.
struct Keys<'a> {
    profile: &'a Profile,
    frames: Vec<FrameKey>,
}

impl<'a> Keys<'a> {
    fn of(profile: &'a Profile, numbers: &mut Numbers<'a>) -> Self {
        Self { profile, frames: profile.frames.iter().map(|frame| numbers.key(frame)).collect() }
    }

    /// Returns the rows by stack: a stack has one row per category, and folders do not count.
    fn stacks(&self) -> Vec<Stack> {
        let mut stacks: Vec<Stack> = Vec::new();
        let mut places: HashMap<Vec<u32>, usize> = HashMap::new();
        for row in 0..self.profile.rows.len() {
            let place = *places.entry(self.numbers(row, |frame| frame.exact)).or_insert_with(|| {
                stacks.push(Stack::default());
                stacks.len() - 1
            });
            stacks[place].rows.push(row);
        }
        stacks
    }

    /// Returns the key that stacks must share to be paired at a level; `None` if a stack cannot be paired there.
    fn key(&self, level: Matched, row: usize) -> Option<Vec<u32>> {
        match level {
            Matched::Same => Some(self.numbers(row, |frame| frame.exact)),
            Matched::MovedLines => Some(self.numbers(row, |frame| frame.loose)),
            _ => self.frames_of(row).find(|frame| frame.is_program).map(|frame| vec![frame.loose]),
        }
    }

    /// Sorts stacks by their lines, because code that is inserted above moves all lines below but keeps their order.
    fn by_lines(&self, mut stacks: Vec<Stack>) -> Vec<Stack> {
        stacks.sort_by_cached_key(|stack| {
            self.profile.frames_of(stack.rows[0]).map(|frame| frame.line).collect::<Vec<u64>>()
        });
        stacks
    }

    fn numbers(&self, row: usize, number: impl Fn(FrameKey) -> u32) -> Vec<u32> {
        self.frames_of(row).map(number).collect()
    }

    fn frames_of(&self, row: usize) -> impl Iterator<Item = FrameKey> {
        self.profile.rows[row].frames.iter().map(|&frame| self.frames[frame as usize])
    }
}
