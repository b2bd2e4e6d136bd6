//! What one moment holds more or less than another, of the same file or of two.

mod matching;
mod profile;
mod side;
#[cfg(test)]
mod tests;

pub use profile::{Profile, ProfileFrame, ProfileRow};
pub use side::Side;

use super::{AllocationId, Category};
use hashbrown::HashMap;
use matching::{Pair, Stack};
use std::cmp::Reverse;
use std::hash::Hash;

/// How a stack of one side was found on the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matched {
    /// Frame by frame, lines included.
    #[default]
    Same,
    /// Frame by frame, but lines differ: the code was edited.
    MovedLines,
    /// By the innermost frame of the program: what is called there, or who calls it, has changed.
    Place,
    /// Not at all: only the first side has it.
    OnlyBefore,
    /// Not at all: only the second side has it.
    OnlyAfter,
}

crate::names!(Matched {
    Same => "same",
    MovedLines => "moved-lines",
    Place => "place",
    OnlyBefore => "only-a",
    OnlyAfter => "only-b",
});

/// Bytes and allocations on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Bytes on the first side.
    pub before_bytes: u64,
    /// Bytes on the second side.
    pub after_bytes: u64,
    /// Allocations on the first side.
    pub before_count: u64,
    /// Allocations on the second side.
    pub after_count: u64,
}

impl Change {
    /// By how many bytes the second side is higher.
    pub fn bytes(&self) -> i64 {
        self.after_bytes as i64 - self.before_bytes as i64
    }

    /// How many allocations more the second side has.
    pub fn count(&self) -> i64 {
        self.after_count as i64 - self.before_count as i64
    }

    /// Whether both sides are alike.
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

/// A stack in one of the two profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffStack {
    /// The row of its profile with most of its bytes.
    pub row: usize,
    /// The largest allocation of that row.
    pub largest: AllocationId,
}

/// A stack that holds more or less than before, or another number of allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffRow {
    /// How it was found on both sides.
    pub matched: Matched,
    /// Where it is on the first side.
    pub before: Option<DiffStack>,
    /// Where it is on the second side.
    pub after: Option<DiffStack>,
    /// What most of the change is for.
    pub category: Category,
    /// What it holds.
    pub change: Change,
}

/// The difference of two profiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// All of both sides.
    pub total: Change,
    /// The stacks that differ, the largest difference first; their deltas add up to the difference of live bytes.
    pub rows: Vec<DiffRow>,
    /// How many stacks hold the same on both sides.
    pub equal_stacks: usize,
    /// What those hold.
    pub equal_bytes: u64,
    /// The same by what it is for, whether it differs or not.
    pub by_category: Vec<(Category, Change)>,
    /// The same by [module](Profile::module).
    pub by_module: Vec<(String, Change)>,
}

/// Compares two profiles, `before` being what is looked up in `after`.
pub fn diff(before: &Profile, after: &Profile) -> Diff {
    let mut diff = Diff::default();
    for pair in matching::pairs(before, after) {
        let row = row(before, after, &pair);
        if row.change.is_none() {
            diff.equal_stacks += 1;
            diff.equal_bytes += row.change.after_bytes;
        } else {
            diff.rows.push(row);
        }
    }
    let position = |stack: &Option<DiffStack>| stack.map_or(usize::MAX, |stack| stack.row);
    diff.rows.sort_unstable_by_key(|row| {
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
        for row in stack.iter().flat_map(|stack| &stack.rows).map(|&row| &profile.rows[row]) {
            change.add(is_after, row.bytes, row.count);
            by_category.entry(row.category).or_default().add(is_after, row.bytes, row.count);
        }
    }
    let most = by_category.into_iter().max_by_key(|&(category, change)| (change.bytes().unsigned_abs(), category));
    let stack = |profile: &Profile, stack: &Stack| {
        let row = stack.rows[0];
        DiffStack { row, largest: profile.rows[row].largest }
    };
    DiffRow {
        matched: pair.matched,
        before: pair.before.as_ref().map(|of| stack(before, of)),
        after: pair.after.as_ref().map(|of| stack(after, of)),
        category: most.map_or(Category::Unknown, |(category, _)| category),
        change,
    }
}

/// The changes by a key of each row, the largest first.
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
    groups.sort_by_cached_key(|(key, change)| {
        (Reverse(change.bytes().unsigned_abs()), Reverse(change.after_bytes), key.clone())
    });
    groups
}
