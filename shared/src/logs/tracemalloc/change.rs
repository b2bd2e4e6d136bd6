//! Compares snapshots: what changed from one to another, and what grows through all of them.

use super::snapshot::{Grouping, Place, Placed, Total, TracemallocSnapshot};
use crate::base::frame_rules;
use hashbrown::HashMap;
use std::cmp::Reverse;

/// Smallest growth of a line from one snapshot to the next that counts, on average, in bytes.
///
/// Caches of the interpreter and of libraries grow by a few objects for a long time.
const LEAST_BYTES: u64 = 10 << 10;

/// Smallest part of the largest rise that the last rise has, so that a cache which fills is not a steady growth.
const LAST_RISE: f64 = 0.25;

/// Blocks of a place in two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineChange<'a> {
    pub place: Place<'a>,
    pub before: Total,
    pub after: Total,
    /// Stack with the most bytes of the place in the later snapshot, if it has the place.
    pub stack: Option<usize>,
}

impl LineChange<'_> {
    /// Returns the bytes that were added, negative if there are fewer.
    pub fn bytes(&self) -> i64 {
        difference(self.before.bytes, self.after.bytes)
    }

    /// Returns the blocks that were added, negative if there are fewer.
    pub fn blocks(&self) -> i64 {
        difference(self.before.blocks, self.after.blocks)
    }
}

fn difference(before: u64, after: u64) -> i64 {
    i64::try_from(i128::from(after) - i128::from(before)).unwrap_or(if after > before { i64::MAX } else { i64::MIN })
}

/// Returns the places of two snapshots, the largest change first, also those without a change.
///
/// The order is that of `Snapshot.compare_to`.
pub fn changes<'a>(
    before: &'a TracemallocSnapshot,
    after: &'a TracemallocSnapshot,
    grouping: Grouping,
) -> Vec<LineChange<'a>> {
    let nothing = |place| LineChange { place, before: Total::default(), after: Total::default(), stack: None };
    let mut by_place: HashMap<Place<'a>, LineChange<'a>> = HashMap::new();
    for Placed { place, total, .. } in before.by(grouping) {
        by_place.entry(place).or_insert_with(|| nothing(place)).before = total;
    }
    for Placed { place, total, stack } in after.by(grouping) {
        let change = by_place.entry(place).or_insert_with(|| nothing(place));
        (change.after, change.stack) = (total, Some(stack));
    }
    let mut changes: Vec<LineChange<'a>> = by_place.into_values().collect();
    changes.sort_unstable_by_key(|change| {
        let LineChange { place, after, .. } = *change;
        Reverse((change.bytes().unsigned_abs(), after.bytes, change.blocks().unsigned_abs(), after.blocks, place))
    });
    changes
}

/// Line that holds more memory in each snapshot than in the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteadyGrowth<'a> {
    pub place: Place<'a>,
    /// Blocks in each snapshot.
    pub totals: Vec<Total>,
    /// Stack with the most bytes of the place in the last snapshot.
    pub stack: usize,
}

impl SteadyGrowth<'_> {
    /// Returns the bytes that one snapshot has more than the one before, on average.
    pub fn bytes_per_snapshot(&self) -> u64 {
        self.mean_rise(|total| total.bytes)
    }

    /// Returns the blocks that one snapshot has more than the one before, on average.
    pub fn blocks_per_snapshot(&self) -> u64 {
        self.mean_rise(|total| total.blocks)
    }

    fn mean_rise(&self, figure: fn(&Total) -> u64) -> u64 {
        let rise = self.totals.last().map_or(0, figure).saturating_sub(self.totals.first().map_or(0, figure));
        rise / (self.totals.len() as u64).saturating_sub(1).max(1)
    }

    /// Returns true if the line grows in each interval, by a size that matters, and does not level off.
    fn is_steady(&self) -> bool {
        let rises: Vec<u64> = self.totals.windows(2).map(|pair| pair[1].bytes.saturating_sub(pair[0].bytes)).collect();
        let (last, most) = (rises.last().copied().unwrap_or(0), rises.iter().copied().max().unwrap_or(0));
        rises.iter().all(|&rise| rise > 0)
            && last as f64 >= LAST_RISE * most as f64
            && self.bytes_per_snapshot() >= LEAST_BYTES
    }
}

/// Returns the lines that grow through all snapshots, those that grow most first; at least three snapshots tell.
///
/// Lines of tracemalloc itself are left out, because they are the snapshots that the program keeps, and those of importlib,
/// because they are the code of modules.
pub fn steady_growth<'a>(snapshots: &[&'a TracemallocSnapshot]) -> Vec<SteadyGrowth<'a>> {
    let Some((last, earlier)) = snapshots.split_last().filter(|(_, earlier)| earlier.len() >= 2) else {
        return Vec::new();
    };
    let earlier: Vec<HashMap<Place<'a>, Total>> = earlier.iter().map(|snapshot| totals(snapshot)).collect();
    let growth = |placed: Placed<'a>| {
        let of = |totals: &HashMap<Place<'a>, Total>| totals.get(&placed.place).copied().unwrap_or_default();
        let totals = earlier.iter().map(of).chain([placed.total]).collect();
        SteadyGrowth { place: placed.place, totals, stack: placed.stack }
    };
    let is_of_program = |placed: &Placed<'a>| !placed.place.is_of_tracemalloc() && !placed.place.is_of_importlib();
    let lines = last.by(Grouping::Line).into_iter().filter(is_of_program);
    let mut growing: Vec<SteadyGrowth<'a>> = lines.map(growth).filter(SteadyGrowth::is_steady).collect();
    growing.sort_by_key(|line| Reverse(line.bytes_per_snapshot()));
    growing
}

fn totals(snapshot: &TracemallocSnapshot) -> HashMap<Place<'_>, Total> {
    snapshot.by(Grouping::Line).into_iter().map(|placed| (placed.place, placed.total)).collect()
}

impl Place<'_> {
    /// Returns true for the module that imports others.
    pub fn is_of_importlib(&self) -> bool {
        self.file.starts_with("<frozen importlib")
    }

    /// Returns true for the module that takes the snapshots.
    pub fn is_of_tracemalloc(&self) -> bool {
        self.file.rsplit(['/', '\\']).next() == Some("tracemalloc.py") && !frame_rules::is_own(self.file)
    }
}
