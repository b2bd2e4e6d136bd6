//! Finds where groups of small allocations begin, at every scale.
//!
//! Idea: neighbours in the stack share a group as long as those that are alive together fit into it; the first that
//! doesn't fit begins the next group.
//! This follows from the trace alone, so that neither panning nor zooming along x regroups anything, and memory that
//! was freed long ago leaves room for other allocations.
//! The size of a group is a power of two, and where a group begins all smaller ones begin too, so that zooming along y
//! only joins and splits groups.
//! An allocation of 1/2 of a group or more doesn't count, because it is never small where groups of that size are
//! drawn.
//!
//! ```text
//! alloc a 1, alloc b 1, free b, alloc c 1, alloc d 1, alloc e 1, alloc f 1 .. alloc i 1
//!
//! groups of 4 bytes   a b c d e | f g h i     b is gone before e comes
//! groups of 8 bytes   a b c d e   f g h i
//! ```
//!
//! Cost: one subtraction per birth for each power of two from its size to the peak, less per death; one byte per
//! allocation.
//! One summary byte per 64 rows speeds up the search for the beginning of a group among many rows.

use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::seen::at_least;
use crate::base::pieces;
use std::iter::Peekable;
use std::ops::Range;

/// Number of rows that share a summary, as a power of two.
const BLOCK_BITS: usize = 6;

/// Largest group that begins with each allocation, as a power of two; 0 if none does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seams {
    rows: Vec<u8>,
    /// Largest value of each 64 rows.
    blocks: Vec<u8>,
}

impl Seams {
    /// Finds the seams between the allocations of a trace whose live bytes never exceed `peak_bytes`.
    pub fn of(allocations: &Allocations, peak_bytes: u64) -> Self {
        let mut open = OpenGroups::new(peak_bytes);
        let mut deaths = allocations.deaths.iter().filter(|&&row| row >= allocations.initial).peekable();
        let mut seams = Vec::with_capacity(allocations.died.len());
        seams.resize(allocations.initial as usize, 0);
        for piece in pieces(allocations.born.len()) {
            add_seams(allocations, piece, &mut deaths, &mut open, &mut seams);
        }
        let largest = |block: &[u8]| block.iter().copied().max().expect("a chunk is not empty");
        Self { blocks: seams.chunks(1 << BLOCK_BITS).map(largest).collect(), rows: seams }
    }

    /// Returns true if a group of `1 << bits` bytes begins with any of these rows.
    pub fn any_begins(&self, rows: Range<usize>, bits: u8) -> bool {
        let begins = |all: &[u8], range: Range<usize>| at_least(all, range, bits).next().is_some();
        let blocks = rows.start.div_ceil(1 << BLOCK_BITS)..rows.end >> BLOCK_BITS;
        if blocks.is_empty() {
            return begins(&self.rows, rows);
        }
        begins(&self.rows, rows.start..blocks.start << BLOCK_BITS)
            || begins(&self.rows, blocks.end << BLOCK_BITS..rows.end)
            || begins(&self.blocks, blocks)
    }
}

/// Appends the seams of the next births.
#[inline(never)]
fn add_seams<'a>(
    allocations: &Allocations,
    births: Range<usize>,
    deaths: &mut Peekable<impl Iterator<Item = &'a u32>>,
    open: &mut OpenGroups,
    seams: &mut Vec<u8>,
) {
    let Allocations { initial, born, died, size_bytes, .. } = allocations;
    for (row, &born) in (initial + births.start as u32..).zip(&born[births]) {
        while let Some(&dead) = deaths.next_if(|&&dead| died[dead as usize] <= born) {
            open.remove(dead, size_bytes[dead as usize]);
        }
        seams.push(open.add(row, size_bytes[row as usize]));
    }
}

/// Last group of each size, indexed by the power of two; each one lies within the next larger one.
struct OpenGroups {
    /// First row of each group, descending.
    first: [u32; 65],
    /// Live bytes that count in this group and in larger ones only.
    ///
    /// A group holds the sum of all entries up to its own.
    bytes: [u64; 65],
    /// Sum of the entries below `end`.
    held_bytes: u64,
    /// Groups from this power of two on never fill.
    end: usize,
}

impl OpenGroups {
    fn new(peak_bytes: u64) -> Self {
        let end = peak_bytes.checked_ilog2().map_or(0, |bits| bits as usize + 1);
        Self { first: [0; 65], bytes: [0; 65], held_bytes: 0, end }
    }

    /// Adds a row to the groups that it is small for, and returns the largest group that it begins.
    fn add(&mut self, row: u32, size_bytes: u64) -> u8 {
        let smallest = smallest_group(size_bytes);
        // From the largest group down, because most allocations are small for a few groups only and begin none.
        let (mut seam, mut held) = (0, self.held_bytes);
        for bits in (smallest..self.end).rev() {
            if held + size_bytes > 1 << bits {
                seam = bits;
                break;
            }
            held -= self.bytes[bits];
        }
        if seam > 0 {
            self.first[..=seam].fill(row);
            self.bytes[..=seam].fill(0);
            self.held_bytes -= held;
            self.put(seam + 1, held);
        }
        self.put(smallest, size_bytes);
        seam as u8
    }

    fn put(&mut self, bits: usize, bytes: u64) {
        self.bytes[bits] += bytes;
        if bits < self.end {
            self.held_bytes += bytes;
        }
    }

    fn remove(&mut self, row: u32, size_bytes: u64) {
        let mut bits = smallest_group(size_bytes);
        while self.first[bits] > row {
            bits += 1;
        }
        self.bytes[bits] -= size_bytes;
        if bits < self.end {
            self.held_bytes -= size_bytes;
        }
    }
}

/// Returns the smallest group that is more than twice as large, as a power of two.
fn smallest_group(size_bytes: u64) -> usize {
    size_bytes.checked_ilog2().map_or(1, |bits| bits as usize + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive;
    use crate::analysis::track::allocations::AllocationId;
    use crate::analysis::track::timeline::Timeline;
    use crate::trace::{Trace, text};

    fn seams(trace: &Trace) -> Vec<u8> {
        Timeline::new(trace, &trace.devices[0]).seams.rows
    }

    /// Returns the rows that begin a group, given those that begin a larger one.
    fn naive_level(trace: &Trace, bits: u32, larger: &[bool]) -> Vec<bool> {
        let device = &trace.devices[0];
        let allocations = Allocations::pair(device);
        let get = |row: usize| allocations.get(AllocationId::from_index(row), device);
        let is_counted = |row: &usize| get(*row).size_bytes < 1 << bits >> 1;
        let mut begins = vec![false; allocations.len()];
        let initial = allocations.initial_count();
        let mut first = initial;
        for row in initial..allocations.len() {
            let is_alive = |other: &usize| get(*other).died > get(row).born;
            let bytes = (first..=row).filter(is_alive).filter(is_counted).map(|row| get(row).size_bytes).sum::<u64>();
            begins[row] = larger[row] || is_counted(&row) && bytes > 1 << bits;
            if begins[row] {
                first = row;
            }
        }
        begins
    }

    #[test]
    fn the_worked_example() {
        let source = "alloc a 1\nalloc b 1\nfree b\nalloc c 1\nalloc d 1\nalloc e 1\nalloc f 1";
        let trace = text::parse(&format!("{source}\nalloc g 1\nalloc h 1\nalloc i 1")).unwrap();
        let seams = seams(&trace);
        assert_eq!(seams, [0, 0, 0, 0, 0, 2, 0, 0, 0], "groups of 2^2 bytes begin with f, larger ones don't");
    }

    #[track_caller]
    fn check_ranges(trace: &Trace, bits: u8, begins: &[bool]) {
        let seams = Timeline::new(trace, &trace.devices[0]).seams;
        for start in (0..=begins.len()).step_by(7) {
            for end in (start..=begins.len()).step_by(11) {
                let expected = begins[start..end].contains(&true);
                assert_eq!(seams.any_begins(start..end, bits), expected, "{start}..{end}, groups of 2^{bits} bytes");
            }
        }
    }

    #[test]
    fn seams_agree_with_the_obvious_ones() {
        for seed in 0..60 {
            let trace = naive::random_trace(seed, [20, 150, 400][seed as usize % 3]);
            let seams = seams(&trace);
            let mut begins = vec![false; seams.len()];
            for bits in (1..24).rev() {
                begins = naive_level(&trace, bits, &begins);
                let found: Vec<_> = seams.iter().map(|&seam| u32::from(seam) >= bits).collect();
                assert_eq!(found, begins, "seed {seed}, groups of 2^{bits} bytes");
                check_ranges(&trace, bits as u8, &begins);
            }
        }
    }
}
