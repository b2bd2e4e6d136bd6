//! Set of taken places that finds the next taken one after any place.
//!
//! Idea: one bit for each place, and on each further level one bit for each word below that is not 0, up to a single
//! word.
//!
//! ```text
//! level 1   101          (here words of three bits)
//! level 0   010 000 001  after place 1: nothing else in its word, the next word with a bit is the third: place 8
//! ```
//!
//! Cost: one bit per place; a call reads a word or two of each level, and four levels suffice for 16 million places.

const WORD_BITS: u32 = u64::BITS;

#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// Words of bits: level 0 has a bit per place, each further level one per word of the level below.
    levels: Vec<Vec<u64>>,
}

impl Places {
    pub(super) fn new(count: usize) -> Self {
        let words = |bits: usize| vec![0; bits.div_ceil(WORD_BITS as usize)];
        let mut levels = vec![words(count)];
        while let Some(below) = levels.last().filter(|level| level.len() > 1) {
            levels.push(words(below.len()));
        }
        Self { levels }
    }

    /// Takes a place if it is not taken.
    pub(super) fn insert(&mut self, mut place: u32) {
        for level in &mut self.levels {
            level[(place / WORD_BITS) as usize] |= 1 << (place % WORD_BITS);
            place /= WORD_BITS;
        }
    }

    /// Gives a place back if it is taken.
    pub(super) fn remove(&mut self, mut place: u32) {
        for level in &mut self.levels {
            let word = &mut level[(place / WORD_BITS) as usize];
            *word &= !(1 << (place % WORD_BITS));
            if *word != 0 {
                break;
            }
            place /= WORD_BITS;
        }
    }

    /// Returns the first taken place after this one.
    pub(super) fn after(&self, mut place: u32) -> Option<u32> {
        for (height, level) in self.levels.iter().enumerate() {
            let word = place / WORD_BITS;
            let later = u64::MAX.checked_shl(place % WORD_BITS + 1).unwrap_or(0) & level[word as usize];
            if later != 0 {
                return Some(self.first_below(height, word * WORD_BITS + later.trailing_zeros()));
            }
            place = word;
        }
        None
    }

    /// Returns the first taken place under a bit of a level.
    fn first_below(&self, height: usize, bit: u32) -> u32 {
        let below = self.levels[..height].iter().rev();
        below.fold(bit, |bit, level| bit * WORD_BITS + level[bit as usize].trailing_zeros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive::Random;
    use std::collections::BTreeSet;

    #[test]
    fn places_agree_with_a_tree() {
        for (seed, count) in (0..).zip([1, 63, 64, 65, 4096, 4097, 300_000]) {
            let mut random = Random::new(seed);
            let (mut places, mut tree) = (Places::new(count), BTreeSet::new());
            let span = [count as u64, 70][seed as usize % 2].min(count as u64);
            for _ in 0..4000 {
                let place = random.below(span) as u32;
                if random.below(2) == 0 {
                    places.insert(place);
                    tree.insert(place);
                } else {
                    places.remove(place);
                    tree.remove(&place);
                }
                let asked = random.below(count as u64) as u32;
                assert_eq!(places.after(asked), tree.range(asked + 1..).next().copied(), "{asked} of {count}");
            }
        }
    }
}
