//! Sums weighted allocations by the path of calls that led to them.

use super::paths::{PathConfig, Paths, Site};
use crate::trace::{StackId, Trace};
use std::cmp::Reverse;
use std::ops::AddAssign;

/// Total weight and number of a group of allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sum of the weights, at most `u64::MAX`: bytes, bytes × time, or any other weight that the caller chose.
    pub weight: u64,
    pub count: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.weight = self.weight.saturating_add(other.weight);
        self.count += other.count;
    }
}

/// Allocations of a site, made by itself and by its callees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteTotal {
    pub site: Site,
    /// Sum over the stacks that contain the site; each counts once, however often the site calls itself.
    pub total: Tally,
    /// Sum over the stacks whose innermost site it is.
    pub own: Tally,
}

/// Weighted allocations summed by stack, and the stacks as paths, in order of first appearance.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    rows: Vec<(StackId, Tally)>,
    sites: Vec<Site>,
    /// `ends[i]` is the end of the path of row `i` in `sites`.
    ends: Vec<usize>,
}

impl Calls {
    /// Sums allocations by stack; they are given as `(stack, weight)` in order of appearance.
    pub fn new(trace: &Trace, config: PathConfig, allocations: impl Iterator<Item = (StackId, u64)>) -> Self {
        let mut calls = Self { rows: sum_by_stack(trace, allocations), ..Self::default() };
        let paths = Paths::new(trace, config);
        for &(stack, _) in &calls.rows {
            paths.push(stack, &mut calls.sites);
            calls.ends.push(calls.sites.len());
        }
        calls
    }

    /// Returns the total of all allocations.
    pub fn total(&self) -> Tally {
        self.sum_where(|_| true)
    }

    /// Returns the total of the stacks with a site for which `is_match` holds; each stack counts once.
    pub fn matching(&self, is_match: impl Fn(Site) -> bool) -> Tally {
        self.sum_where(|path| path.iter().any(|&site| is_match(site)))
    }

    /// Returns the totals of all sites, the largest first.
    pub fn by_site(&self) -> Vec<SiteTotal> {
        // `All` is in no path, so that slot 0 belongs to `NoStack` alone.
        let slot = |site: Site| match site {
            Site::Frame(frame) => frame.index() + 1,
            Site::NoStack | Site::All => 0,
        };
        let slots = self.sites.iter().map(|&site| slot(site) + 1).max().unwrap_or(0);
        let mut totals: Vec<Option<SiteTotal>> = vec![None; slots];
        let mut last_row = vec![usize::MAX; slots];
        for (row, path, tally) in self.paths() {
            for &site in path {
                let empty = SiteTotal { site, total: Tally::default(), own: Tally::default() };
                let total = totals[slot(site)].get_or_insert(empty);
                if std::mem::replace(&mut last_row[slot(site)], row) != row {
                    total.total += tally;
                }
            }
            if let Some(total) = path.last().and_then(|&site| totals[slot(site)].as_mut()) {
                total.own += tally;
            }
        }
        let mut totals: Vec<_> = totals.into_iter().flatten().collect();
        totals.sort_by_key(|total| (Reverse(total.total.weight), Reverse(total.total.count), total.site));
        totals
    }

    pub(super) fn stack(&self, row: usize) -> StackId {
        self.rows[row].0
    }

    /// Returns each row with its path, outermost site first, and its tally.
    pub(super) fn paths(&self) -> impl Iterator<Item = (usize, &[Site], Tally)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let paths = starts.zip(&self.ends).map(|(start, &end)| &self.sites[start..end]);
        self.rows.iter().zip(paths).enumerate().map(|(row, (&(_, tally), path))| (row, path, tally))
    }

    fn sum_where(&self, is_counted: impl Fn(&[Site]) -> bool) -> Tally {
        let mut sum = Tally::default();
        self.paths().filter(|(_, path, _)| is_counted(path)).for_each(|(_, _, tally)| sum += tally);
        sum
    }
}

/// Sums allocations to one row per stack, in order of first appearance; stacks without frames share one row.
fn sum_by_stack(trace: &Trace, allocations: impl Iterator<Item = (StackId, u64)>) -> Vec<(StackId, Tally)> {
    const UNSEEN: u32 = u32::MAX;
    let mut row_of = vec![UNSEEN; trace.stacks.len()];
    let mut rows: Vec<(StackId, Tally)> = Vec::new();
    for (stack, weight) in allocations {
        let stack = if stack.has_frames() { stack } else { StackId::NONE };
        let row = &mut row_of[stack.index()];
        if *row == UNSEEN {
            *row = rows.len() as u32;
            rows.push((stack, Tally::default()));
        }
        rows[*row as usize].1 += Tally { weight, count: 1 };
    }
    rows
}
