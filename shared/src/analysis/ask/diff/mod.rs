//! Compares the live memory of two moments, of the same file or of two files.
//!
//! A *profile* of a moment contains texts instead of handles, so that the worker of one file can send it to that of
//! another; ranks are compared by profiles, too.
//!
//! Idea: stacks that match exactly are paired first, and the remaining stacks are compared less strictly.
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
//!
//! Invariant: the differences of all stacks, of all categories and of all modules each add up to the difference of live
//! bytes.

mod profile;
#[cfg(test)]
mod tests;

use crate::analysis::track::allocations::AllocationKey;
use crate::analysis::track::category::Category;
use crate::base::stack_label::{Labelled, distinguish};
use crate::base::{OwnCode, ShortSort, StackLabel, frame_rules};
use hashbrown::HashMap;
use profile::file_tail;
pub use profile::{Profile, ProfileFrame, ProfileRow, Side};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::hash::Hash;

/// Bytes and allocations on both sides, `before` being the first and `after` the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub before_bytes: u64,
    pub after_bytes: u64,
    pub before_count: u64,
    pub after_count: u64,
}

impl Change {
    /// Returns the bytes of the second side minus those of the first.
    pub fn bytes(&self) -> i64 {
        self.after_bytes as i64 - self.before_bytes as i64
    }

    /// Returns the number of allocations of the second side minus that of the first.
    pub fn count(&self) -> i64 {
        self.after_count as i64 - self.before_count as i64
    }

    pub fn is_none(&self) -> bool {
        self.bytes() == 0 && self.count() == 0
    }

    fn add(&mut self, is_after: bool, bytes: u64, count: u64) {
        let sums = match is_after {
            false => (&mut self.before_bytes, &mut self.before_count),
            true => (&mut self.after_bytes, &mut self.after_count),
        };
        *sums.0 += bytes;
        *sums.1 += count;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffStack {
    /// Row of the stack in its profile, the one with the most bytes if there are several.
    pub row: usize,
    /// Largest allocation of that row.
    pub largest: AllocationKey,
}

/// Stack whose bytes or number of allocations differ between the sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffRow {
    pub matched: Matched,
    pub before: Option<DiffStack>,
    pub after: Option<DiffStack>,
    /// Category with the largest change in bytes.
    pub category: Category,
    pub change: Change,
}

impl DiffRow {
    /// Returns the profile and the row in it that describe the stack: those of the second side, or of the first if the
    /// second lacks the stack.
    pub fn told<'a>(&self, before: &'a Profile, after: &'a Profile) -> Option<(&'a Profile, usize)> {
        self.after.map(|stack| (after, stack.row)).or_else(|| self.before.map(|stack| (before, stack.row)))
    }
}

/// Returns the labels of rows, in their order; equal ones are told apart.
pub fn diff_labels((before, after): (&Profile, &Profile), rows: &[DiffRow], own: &OwnCode) -> Vec<Option<StackLabel>> {
    let none = || Labelled::new(Vec::new(), Vec::new());
    let labelled = |row: &DiffRow| row.told(before, after).map(|(profile, row)| profile.labelled(row, own));
    let mut list: Vec<_> = rows.iter().map(|row| labelled(row).unwrap_or_else(none)).collect();
    distinguish(&mut list);
    list.into_iter().map(|one| one.label).collect()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffBy {
    #[default]
    Stack,
    Category,
    /// [Module](Profile::module), or file of the program.
    Module,
}

crate::names!(DiffBy { Stack => "stack", Category => "category", Module => "module" });

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    pub total: Change,
    /// Stacks that differ, the largest difference in bytes first; their differences add up to that of the live bytes.
    pub rows: Vec<DiffRow>,
    /// Number of stacks that have equally many bytes and allocations on both sides.
    pub equal_stacks: usize,
    /// Bytes that the equal stacks hold on each side.
    pub equal_bytes: u64,
    /// Sums by category, including categories that do not differ.
    pub by_category: Vec<(Category, Change)>,
    /// Sums by [module](Profile::module), including modules that do not differ.
    pub by_module: Vec<(String, Change)>,
}

pub fn diff(before: &Profile, after: &Profile) -> Diff {
    let mut diff = Diff::default();
    for pair in pairs(before, after) {
        let row = row(before, after, &pair);
        if row.change.is_none() {
            diff.equal_stacks += 1;
            diff.equal_bytes += row.change.after_bytes;
        } else {
            diff.rows.push(row);
        }
    }
    let position = |stack: &Option<DiffStack>| stack.map_or(usize::MAX, |stack| stack.row);
    diff.rows.short_sort_by_key(|row| {
        (Reverse(row.change.bytes().unsigned_abs()), position(&row.after), position(&row.before))
    });
    diff.by_category = grouped(before, after, |profile, row| profile.rows[row].category);
    diff.by_module = grouped(before, after, |profile, row| profile.module(row).to_owned());
    diff.by_category.iter().for_each(|(_, change)| {
        diff.total.add(false, change.before_bytes, change.before_count);
        diff.total.add(true, change.after_bytes, change.after_count);
    });
    diff
}

fn row(before: &Profile, after: &Profile, pair: &Pair) -> DiffRow {
    let mut change = Change::default();
    let mut by_category: HashMap<Category, Change> = HashMap::new();
    for (is_after, profile, stack) in [(false, before, &pair.before), (true, after, &pair.after)] {
        for row in stack.iter().flatten().map(|&row| &profile.rows[row]) {
            change.add(is_after, row.bytes, row.count);
            by_category.entry(row.category).or_default().add(is_after, row.bytes, row.count);
        }
    }
    let most = by_category.into_iter().max_by_key(|&(category, change)| (change.bytes().unsigned_abs(), category));
    let stack = |profile: &Profile, rows: &Stack| DiffStack { row: rows[0], largest: profile.rows[rows[0]].largest };
    DiffRow {
        matched: pair.matched,
        before: pair.before.as_ref().map(|of| stack(before, of)),
        after: pair.after.as_ref().map(|of| stack(after, of)),
        category: most.map_or(Category::Unknown, |(category, _)| category),
        change,
    }
}

/// Sums the rows of both profiles by a key, the largest difference in bytes first.
fn grouped<K: Clone + Eq + Hash + Ord>(
    before: &Profile,
    after: &Profile,
    key: impl Fn(&Profile, usize) -> K,
) -> Vec<(K, Change)> {
    let mut groups: HashMap<K, Change> = HashMap::new();
    for (is_after, profile) in [(false, before), (true, after)] {
        for (position, row) in profile.rows.iter().enumerate() {
            groups.entry(key(profile, position)).or_default().add(is_after, row.bytes, row.count);
        }
    }
    let mut groups: Vec<(K, Change)> = groups.into_iter().collect();
    groups.short_sort_by_key(|(key, change)| {
        (Reverse(change.bytes().unsigned_abs()), Reverse(change.after_bytes), key.clone())
    });
    groups
}

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

/// Rows of a profile that have the same stack, by their positions, the most bytes first.
type Stack = Vec<usize>;

struct Pair {
    matched: Matched,
    before: Option<Stack>,
    after: Option<Stack>,
}

fn pairs(before: &Profile, after: &Profile) -> Vec<Pair> {
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
            match sides[side].key(level, stack[0]) {
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
        let common = before.len().min(after.len());
        let both = before.by_ref().zip(after.by_ref()).take(common);
        pairs.extend(both.map(|(one, other)| Pair { matched: level, before: Some(one), after: Some(other) }));
        left[0].extend(before);
        left[1].extend(after);
    }
    left
}

fn merged(stacks: Vec<Stack>) -> Stack {
    let mut rows = stacks.concat();
    // Profiles list their rows by bytes, so that ascending positions mean descending bytes.
    rows.sort_unstable();
    rows
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
            stacks[place].push(row);
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
        stacks
            .short_sort_by_key(|stack| self.profile.frames_of(stack[0]).map(|frame| frame.line).collect::<Vec<u64>>());
        stacks
    }

    fn numbers(&self, row: usize, number: impl Fn(FrameKey) -> u32) -> Vec<u32> {
        self.frames_of(row).map(number).collect()
    }

    fn frames_of(&self, row: usize) -> impl Iterator<Item = FrameKey> {
        self.profile.rows[row].frames.iter().map(|&frame| self.frames[frame as usize])
    }
}
