//! Finds the allocations that are alive at a moment without looking at all rows.
//!
//! Idea: for each block of 64 neighbouring rows store the latest death, and again for each 16 such blocks; if that is
//! not after the moment, none of the block's rows is alive then.
//!
//! ```text
//! level 1   [          ∞          ]       (here blocks of three rows, and two blocks each)
//! level 0   [    5    ][    ∞     ]       alive at 6: the first block is skipped
//! died        2  5  4    7  3  ∞
//! ```
//!
//! Cost: 1/15 of a byte per row; a query reads each block of rows that has a living row, and a few deaths for each
//! stretch that has none.

use crate::analysis::track::curve::{FAN_BITS, pyramid};

/// Binary logarithm of the number of rows in a block of the lowest level.
const BLOCK_BITS: u32 = 6;
/// Latest deaths of blocks of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Endings {
    /// Level 0 has one death per block of rows, each further level one per 16 blocks of the level below.
    levels: Vec<Vec<u32>>,
}

impl Endings {
    pub fn of(died: &[u32]) -> Self {
        let latest = |group: &[u32]| group.iter().copied().max().expect("a chunk is not empty");
        Self { levels: pyramid(died.chunks(1 << BLOCK_BITS).map(latest).collect(), latest) }
    }

    /// Iterates over the rows before `end` that die after a moment, ascending.
    ///
    /// `died` must hold the deaths from which this index was built.
    pub fn after<'a>(&'a self, died: &'a [u32], moment: u32, end: usize) -> impl Iterator<Item = usize> + 'a {
        let mut row = 0;
        std::iter::from_fn(move || {
            while row < end {
                if row & ((1 << BLOCK_BITS) - 1) == 0
                    && let Some(next) = self.next_living(row, moment)
                {
                    row = next;
                    continue;
                }
                row += 1;
                if died[row - 1] > moment {
                    return Some(row - 1);
                }
            }
            None
        })
    }

    /// Returns the row after the largest block that begins at `row` and has no living row, if there is one.
    fn next_living(&self, row: usize, moment: u32) -> Option<usize> {
        let mut dead = None;
        let mut bits = BLOCK_BITS;
        for level in &self.levels {
            let block = row >> bits;
            if block << bits != row || level[block] > moment {
                break;
            }
            dead = Some((block + 1) << bits);
            bits += FAN_BITS;
        }
        dead
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive::Random;

    #[test]
    fn the_living_are_those_that_a_look_at_everybody_finds() {
        for seed in 0..60 {
            let mut random = Random::new(seed);
            let rows = random.below([3, 70, 3000, 40_000][seed as usize % 4]);
            // As in training, most rows die soon; in some blocks and stretches no row is alive any more.
            let died: Vec<u32> = (0..rows as u32)
                .map(|row| match random.below(200) {
                    0 => u32::MAX,
                    1..4 => row + random.below(20_000) as u32,
                    _ => row + 1 + random.below(9) as u32,
                })
                .collect();
            let endings = Endings::of(&died);
            for _ in 0..40 {
                let moment = random.below(rows + 2) as u32;
                let end = random.below(rows + 1) as usize;
                let expected: Vec<usize> = (0..end).filter(|&row| died[row] > moment).collect();
                assert_eq!(endings.after(&died, moment, end).collect::<Vec<_>>(), expected, "seed {seed}");
            }
        }
    }

    #[test]
    fn whole_blocks_are_passed_over() {
        let died = vec![1; 5000];
        assert_eq!(Endings::of(&died).next_living(0, 1), Some(1 << 14), "the largest block that is dead");
        assert_eq!(Endings::of(&died).next_living(64, 1), Some(128));
        assert_eq!(Endings::of(&died).next_living(0, 0), None);
    }
}
