//! Compares the live memory of two moments, of the same file or of two files.
//!
//! A *profile* of a moment contains texts instead of handles, so that the worker of one file can send it to that of
//! another; ranks are compared by profiles, too.
//!
//! Invariant: the differences of all stacks, of all categories and of all modules each add up to the difference of live
//! bytes.

mod matching;
mod profile;
#[cfg(test)]
mod tests;

pub use matching::Matched;
pub use profile::{Profile, ProfileFrame, ProfileRow, Side};

use crate::analysis::track::allocations::AllocationKey;
use crate::analysis::track::category::Category;
use crate::base::stack_label::{Labelled, distinguish};
use crate::base::{OwnCode, StackLabel};
use hashbrown::HashMap;
use matching::{Pair, Stack};
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

    /// Returns true if both sides have equally many bytes and allocations.
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

/// Stack in one of the two profiles.
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
    /// Stack on the first side.
    pub before: Option<DiffStack>,
    /// Stack on the second side.
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

/// Property by which a difference is broken down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffBy {
    /// Stack of the allocation.
    #[default]
    Stack,
    Category,
    /// [Module](Profile::module), or file of the program.
    Module,
}

crate::names!(DiffBy { Stack => "stack", Category => "category", Module => "module" });

/// Difference of two profiles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// Sums over all stacks of each side.
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

/// Compares two profiles; `before` is the first side and `after` the second.
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
    groups.sort_by_cached_key(|(key, change)| {
        (Reverse(change.bytes().unsigned_abs()), Reverse(change.after_bytes), key.clone())
    });
    groups
}
