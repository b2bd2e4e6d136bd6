//! Finds large bytes among many small ones, eight at a time.

use std::ops::Range;

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
pub(in crate::analysis) fn at_least(bytes: &[u8], range: Range<usize>, least: u8) -> impl Iterator<Item = usize> + '_ {
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
    use crate::analysis::naive::Random;

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
