//! Finds the coarsest grid on which each allocation is still visible.
//!
//! Idea: each slice of a grid is a pair of slices of the next finer grid, and shows the moment that one of these two
//! shows, so that all finer grids show every moment that a grid shows.
//! An allocation is visible on a grid that shows a moment of its life, and one byte stores the coarsest such grid.
//! A picture skips all invisible allocations, eight bytes at a time: in a training run of ten million events, these are
//! nearly all that were freed soon after they were made.
//!
//! ```text
//! moments           0 1 2 3 4 5 6 7 8        a lives at moments 1 and 2, c at 5 and 6:
//! live              0 1 3 2 2 4 4 2 5        a is visible up to grid 2 and c up to grid 3
//! shown, grid 1       1 2     5 6   8
//!        grid 2         2     5     8
//!        grid 3               5     8
//!        grid 4                     8
//! ```
//!
//! Pictures are the same without this table; they only take longer.
//! Cost: one pass over the events with a few additions each; two bytes per allocation.

use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::curve::Changes;
use std::ops::Range;

/// Coarsest grid, which has a single slice; the slices of a grid are `1 << grid` events or microseconds wide.
const COARSEST: usize = 63;

/// Coarsest grid of an axis on which each row and each death is visible.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Coarsest grid of each row, plus 1; 0 if no grid shows it.
    rows: Vec<u8>,
    /// The same for the rows that died, in the order of their deaths.
    deaths: Vec<u8>,
}

impl Seen {
    /// Builds the table of an axis on which the moments from 0 on begin at `starts`, which never fall.
    ///
    /// On the axis of events, each moment is its own start.
    pub fn new(allocations: &Allocations, starts: impl Iterator<Item = u64>) -> Self {
        let shown = shown_up_to(allocations, starts);
        let mut seen = Self { rows: vec![0; allocations.len()], deaths: Vec::with_capacity(allocations.deaths.len()) };
        let mut latest = Latest([0; COARSEST + 2]);
        let mut before = 0;
        for &row in &allocations.deaths {
            let died = allocations.died[row as usize];
            latest.pass(before..died, &shown);
            before = died;
            let grid = latest.coarsest_since(allocations.born_at(row));
            seen.rows[row as usize] = grid;
            seen.deaths.push(grid);
        }
        latest.pass(before..shown.len() as u32, &shown);
        for row in allocations.endings.after(&allocations.died, shown.len() as u32, allocations.len()) {
            seen.rows[row] = latest.coarsest_since(allocations.born_at(row as u32));
        }
        seen
    }

    /// Returns those of a range of rows that a grid shows at any moment.
    pub fn rows(&self, rows: Range<usize>, grid: u32) -> impl Iterator<Item = usize> + '_ {
        at_least(&self.rows, rows, grid as u8 + 1)
    }

    /// Returns those of a range of deaths whose rows a grid shows.
    pub fn deaths(&self, deaths: Range<usize>, grid: u32) -> impl Iterator<Item = usize> + '_ {
        at_least(&self.deaths, deaths, grid as u8 + 1)
    }
}

/// Last moment that each grid has shown, plus 1; grid `g` is at index `g + 1`.
struct Latest([u32; COARSEST + 2]);

impl Latest {
    fn pass(&mut self, moments: Range<u32>, shown: &[u8]) {
        for moment in moments {
            self.0[1..=usize::from(shown[moment as usize])].fill(moment + 1);
        }
    }

    /// Returns the coarsest grid that has shown `moment` or a later one, plus 1; 0 for none.
    fn coarsest_since(&self, moment: u32) -> u8 {
        self.0[1..].iter().take_while(|&&latest| latest > moment).count() as u8
    }
}

/// Returns the coarsest grid that shows each moment, plus 1; 0 for none.
fn shown_up_to(allocations: &Allocations, starts: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut tower = Tower::default();
    let mut starts = starts;
    let mut bytes = allocations.initial_bytes();
    let last = u32::MAX - 1;
    allocations.for_each(1..last, |moment, delta| {
        tower.pass_until(moment, &mut starts, bytes);
        bytes += delta;
    });
    tower.pass_until(last, &mut starts, bytes);
    tower.finish()
}

/// Current slice of each grid during the sweep over the moments.
#[derive(Default)]
struct Tower {
    shown: Vec<u8>,
    open: Vec<Open>,
    /// Live bytes of the last moment.
    bytes: i64,
}

/// Slice that may get further moments.
#[derive(Clone, Copy)]
struct Open {
    slice: u64,
    /// First moment with the highest live bytes so far.
    moment: u32,
    bytes: i64,
}

impl Open {
    fn take(&mut self, moment: u32, bytes: i64) {
        if bytes > self.bytes {
            (self.moment, self.bytes) = (moment, bytes);
        }
    }
}

impl Tower {
    /// Adds the moments before `end`, as far as there are starts, each with these live bytes.
    fn pass_until(&mut self, end: u32, starts: &mut impl Iterator<Item = u64>, bytes: i64) {
        let count = (end as usize).saturating_sub(self.shown.len());
        for start in starts.take(count) {
            self.push(start, bytes);
        }
    }

    /// Adds the moment that begins at `start`.
    fn push(&mut self, start: u64, bytes: i64) {
        let moment = self.shown.len() as u32;
        self.shown.push(0);
        if self.open.is_empty() {
            let open = |grid| Open { slice: start >> grid, moment, bytes };
            self.open = (0..=COARSEST).map(open).collect();
        } else {
            self.enter(start, moment);
            self.open[0].take(moment, bytes);
        }
        self.bytes = bytes;
    }

    /// Closes the slices before `start` and opens those that contain it.
    fn enter(&mut self, start: u64, moment: u32) {
        let mut grid = 0;
        while self.open[grid].slice != start >> grid {
            let Open { slice, moment: highest, bytes } = self.open[grid];
            self.show(highest, grid);
            if (start >> grid) - slice > 1 {
                // The slices in between have no event, and show the moment that lasts through them.
                self.show(moment - 1, grid);
            }
            self.open[grid + 1].take(highest, bytes);
            let slice = start >> grid;
            // The moment that lasts into a slice is its first one, unless an event happens exactly where it begins.
            let goes_on = slice << grid != start;
            self.open[grid] = if goes_on {
                Open { slice, moment: moment - 1, bytes: self.bytes }
            } else {
                Open { slice, moment, bytes: i64::MIN }
            };
            grid += 1;
        }
    }

    fn show(&mut self, moment: u32, grid: usize) {
        let shown = &mut self.shown[moment as usize];
        *shown = (*shown).max(grid as u8 + 1);
    }

    fn finish(mut self) -> Vec<u8> {
        for grid in 0..self.open.len() {
            let Open { moment, bytes, .. } = self.open[grid];
            self.show(moment, grid);
            if let Some(next) = self.open.get_mut(grid + 1) {
                next.take(moment, bytes);
            }
        }
        self.shown
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Returns the places in a range whose bytes are `least` or more, ascending.
///
/// All bytes must be below 128 and `least` in `1..=128`: adding `128 - least` then sets the highest bit of exactly
/// those bytes, and carries nothing over:
///
/// ```text
/// bytes, least 3      0    2    5    3
/// + 125             125  127  130  128        the last two have the highest bit
/// ```
pub fn at_least(bytes: &[u8], range: Range<usize>, least: u8) -> impl Iterator<Item = usize> + '_ {
    debug_assert!((1..=128).contains(&least));
    let missing = u64::from(128 - least) * ONES;
    let words = bytes[range.clone()].chunks(8).enumerate();
    words.flat_map(move |(index, word)| {
        let mut all = [0; 8];
        all[..word.len()].copy_from_slice(word);
        let mut found = (u64::from_le_bytes(all) + missing) & HIGH_BITS;
        if word.len() < 8 {
            // The padding bytes are 0, which would be found only if `least` were 0.
            found &= (1 << (word.len() * 8)) - 1;
        }
        let first = range.start + index * 8;
        std::iter::from_fn(move || {
            let place = (found != 0).then(|| first + found.trailing_zeros() as usize / 8);
            found &= found.wrapping_sub(1);
            place
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive;
    use crate::analysis::naive::Random;
    use crate::trace::text;

    #[test]
    fn the_worked_example() {
        let events = ["alloc a 1", "alloc b 2", "free a", "snapshot", "alloc c 2", "snapshot", "free c", "alloc d 3"];
        let (_, timeline) = naive::timed(text::parse(&events.join("\n").replace("free", "free_completed")).unwrap());
        assert_eq!((0..=8).map(|moment| timeline.live_at(moment)).collect::<Vec<_>>(), [0, 1, 3, 2, 2, 4, 4, 2, 5]);
        let seen = Seen::new(&timeline.allocations, 0..9);
        let everywhere = COARSEST as u8 + 1;
        assert_eq!(seen, Seen { rows: vec![2 + 1, everywhere, 3 + 1, everywhere], deaths: vec![2 + 1, 3 + 1] });
    }

    #[test]
    fn places_are_those_that_a_look_at_each_byte_finds() {
        let mut random = Random::new(1);
        for _ in 0..3000 {
            let highest = [2, 30, 128][random.below(3) as usize];
            let bytes: Vec<u8> = (0..random.below(70)).map(|_| random.below(highest) as u8).collect();
            let start = random.below(bytes.len() as u64 + 1) as usize;
            let end = start + random.below((bytes.len() - start) as u64 + 1) as usize;
            let least = 1 + random.below(128) as u8;
            let expected: Vec<usize> = (start..end).filter(|&place| bytes[place] >= least).collect();
            assert_eq!(at_least(&bytes, start..end, least).collect::<Vec<_>>(), expected);
        }
    }
}
