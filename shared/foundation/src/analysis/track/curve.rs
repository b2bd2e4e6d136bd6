//! Stores a byte count over the moments of a trace and answers the maximum of any range quickly.
//!
//! Idea: store the value at every 128th moment and the peak of each block of 128 moments; above the peaks lies a
//! pyramid, in which each peak is the highest of 16 below.
//! Values inside a block are added up again from the changes, which the caller stores anyway.
//!
//! ```text
//! level 2   [               7              ]
//! level 1   [       7       ][      5      ]      (here two blocks each, and blocks of three moments)
//! level 0   [   3   ][  7   ][  4  ][  5   ]
//! bytes     [ 1 3 2 ][ 5 6 7][4 4 1][5 3 2 ]      max_in(1..10): moments 1 and 2 and 9 are added up,
//! moments     0 ^ ^   ~~~~~~  ~~~~~  ^            blocks 1 and 2 are known
//! ```
//!
//! Cost: 24 bytes per 128 moments, plus 1/15 of the peaks for the upper levels; a query adds up at most two blocks and
//! reads at most 30 peaks per level.

use std::ops::Range;

const BLOCK_BITS: u32 = 7;
/// Binary logarithm of the number of blocks in a block of the next level.
pub const FAN_BITS: u32 = 4;

/// Changes of a byte count along a trace.
pub trait Changes {
    /// Returns the bytes at moment 0.
    fn initial_bytes(&self) -> i64;

    /// Calls `visit` with each moment of the range at which the bytes change and with the change, in ascending order.
    ///
    /// Moment 0 is never a change.
    fn for_each(&self, moments: Range<u32>, visit: impl FnMut(u32, i64));
}

/// Changes that are kept in a list, because they are few.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedChanges {
    pub initial_bytes: i64,
    /// Moments with the change of bytes, ascending.
    pub changes: Vec<(u32, i64)>,
}

impl Changes for ListedChanges {
    fn initial_bytes(&self) -> i64 {
        self.initial_bytes
    }

    fn for_each(&self, moments: Range<u32>, mut visit: impl FnMut(u32, i64)) {
        let first = self.changes.partition_point(|&(moment, _)| moment < moments.start);
        let inside = self.changes[first..].iter().take_while(|&&(moment, _)| moment < moments.end);
        inside.for_each(|&(moment, delta)| visit(moment, delta));
    }
}

/// Highest point of a range; the first one if several are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    pub bytes: i64,
    pub moment: u32,
}

impl Peak {
    fn higher(self, other: Self) -> Self {
        let is_better = other.bytes > self.bytes || (other.bytes == self.bytes && other.moment < self.moment);
        if is_better { other } else { self }
    }
}

/// Byte count at every moment `0..=events`; queries take the [`Changes`] from which it was built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    events: u32,
    /// Bytes at the first moment of each block.
    starts: Vec<i64>,
    /// Level 0 has one peak per block, each further level one per 16 of the level below, the last level a single one.
    levels: Vec<Vec<Peak>>,
}

impl Curve {
    /// Builds the curve from the changes at the moments `1..=events`.
    pub fn new(changes: &impl Changes, events: u32) -> Self {
        let block_count = (events >> BLOCK_BITS) as usize + 1;
        let mut starts = Vec::with_capacity(block_count);
        let mut peaks = Vec::with_capacity(block_count);
        let mut bytes = changes.initial_bytes();
        for block in 0..block_count as u32 {
            let first = block << BLOCK_BITS;
            changes.for_each(first..first + 1, |_, delta| bytes += delta);
            starts.push(bytes);
            let peak;
            (bytes, peak) = Self::rest(changes, first..block_end(block, events), bytes);
            peaks.push(peak);
        }
        Self { events, starts, levels: pyramid(peaks, highest) }
    }

    /// Returns the bytes after a range of moments and their peak, given the bytes at its first moment.
    #[inline(never)]
    fn rest(changes: &impl Changes, moments: Range<u32>, mut bytes: i64) -> (i64, Peak) {
        let mut peak = Peak { bytes, moment: moments.start };
        changes.for_each(moments.start + 1..moments.end, |moment, delta| {
            bytes += delta;
            peak = peak.higher(Peak { bytes, moment });
        });
        (bytes, peak)
    }

    /// Returns the bytes at a moment, or at the last one if `moment` is later.
    pub fn value_at(&self, changes: &impl Changes, moment: u32) -> i64 {
        let moment = moment.min(self.events);
        let block = moment >> BLOCK_BITS;
        let mut bytes = self.starts[block as usize];
        changes.for_each((block << BLOCK_BITS) + 1..moment + 1, |_, delta| bytes += delta);
        bytes
    }

    /// Returns the highest point of a range of moments.
    ///
    /// The range is clipped to the trace and has at least one moment.
    pub fn max_in(&self, changes: &impl Changes, moments: Range<u32>) -> Peak {
        let start = moments.start.min(self.events);
        let end = moments.end.clamp(start + 1, self.events + 1);
        let full_from = start.div_ceil(1 << BLOCK_BITS);
        let full_to = if end == self.events + 1 { self.starts.len() as u32 } else { end >> BLOCK_BITS };
        if full_from >= full_to {
            return self.scan(changes, start..end);
        }
        let mut peak = self.max_of_blocks(full_from as usize..full_to as usize);
        if start < full_from << BLOCK_BITS {
            peak = peak.higher(self.scan(changes, start..full_from << BLOCK_BITS));
        }
        if end > block_end(full_to - 1, self.events) {
            peak = peak.higher(self.scan(changes, full_to << BLOCK_BITS..end));
        }
        peak
    }

    pub fn max(&self) -> Peak {
        self.levels.last().map_or(Peak { bytes: 0, moment: 0 }, |level| level[0])
    }

    fn scan(&self, changes: &impl Changes, moments: Range<u32>) -> Peak {
        let bytes = self.value_at(changes, moments.start);
        Self::rest(changes, moments, bytes).1
    }

    fn max_of_blocks(&self, blocks: Range<usize>) -> Peak {
        let Range { mut start, mut end } = blocks;
        let mut peak = self.levels[0][start];
        for level in &self.levels {
            // Complete groups of 16 are left to the next level.
            let inner_start = start.next_multiple_of(1 << FAN_BITS);
            let inner_end = end >> FAN_BITS << FAN_BITS;
            if inner_start >= inner_end {
                return level[start..end].iter().fold(peak, |peak, &other| peak.higher(other));
            }
            let edges = level[start..inner_start].iter().chain(&level[inner_end..end]);
            peak = edges.fold(peak, |peak, &other| peak.higher(other));
            (start, end) = (inner_start >> FAN_BITS, inner_end >> FAN_BITS);
        }
        peak
    }
}

fn block_end(block: u32, events: u32) -> u32 {
    let end = (u64::from(block) + 1) << BLOCK_BITS;
    end.min(u64::from(events) + 1) as u32
}

fn highest(group: &[Peak]) -> Peak {
    group.iter().copied().reduce(Peak::higher).expect("a chunk is not empty")
}

/// Returns a level of values, and further ones, each with one value for 16 of the level below.
pub fn pyramid<T>(lowest: Vec<T>, top: impl Fn(&[T]) -> T) -> Vec<Vec<T>> {
    let mut levels = vec![lowest];
    while let Some(below) = levels.last().filter(|level| level.len() > 1) {
        levels.push(below.chunks(1 << FAN_BITS).map(&top).collect());
    }
    levels
}

/// Returns the sum of changes up to each position, 0 where it is negative.
pub fn sums(changes: Vec<i64>) -> Vec<u64> {
    let mut sum = 0;
    let add = |change: i64| {
        sum += change;
        u64::try_from(sum).unwrap_or(0)
    };
    changes.into_iter().map(add).collect()
}
