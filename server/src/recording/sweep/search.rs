//! Searches for the largest batch that fits.
//!
//! It doubles the batch, then bisects, and finally tries the neighbours on both sides, because memory is not monotonic:
//! a larger batch can cause less fragmentation.
//!
//! ```text
//! batch     1  2  4  8  16   12 14 13   15 16   12 11
//! fits      ✓  ✓  ✓  ✓  ✗    ✓  ✗  ✓    ✗  ✗    ✓  ✓     the largest is 13
//!           doubling         bisection  above   below
//! ```
//!
//! Cost: about 2 log₂(answer) recordings, plus up to four neighbours if memory is monotonic.

use std::collections::BTreeMap;

/// Number of batches tried beyond the first that does not fit, and below the answer.
const NEIGHBOURS: u64 = 2;

/// The batches that were tried, and whether they fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tried(BTreeMap<u64, bool>);

impl Tried {
    /// Returns the largest batch that fits, or `None` if none does.
    pub fn largest(&self) -> Option<u64> {
        self.0.iter().rev().find(|(_, fits)| **fits).map(|(&batch, _)| batch)
    }

    /// Returns the smallest tried batch above the answer, which does not fit; `None` if there is none.
    pub fn next_failing(&self) -> Option<u64> {
        self.0.range(self.largest().unwrap_or(0) + 1..).next().map(|(&batch, _)| batch)
    }

    /// Returns the batches that do not fit although a larger one does.
    pub fn gaps(&self) -> Vec<u64> {
        let largest = self.largest().unwrap_or(0);
        self.0.iter().filter(|&(&batch, &fits)| batch < largest && !fits).map(|(&batch, _)| batch).collect()
    }
}

/// Finds the largest batch that fits, from 1 to `most`.
///
/// `fits` is called at most once per batch.
///
/// # Errors
///
/// Returns the first error of `fits`.
pub fn largest<E>(most: u64, mut fits: impl FnMut(u64) -> Result<bool, E>) -> Result<Tried, E> {
    let mut tried = Tried::default();
    let mut fits = |batch| match tried.0.get(&batch) {
        Some(&known) => Ok(known),
        None => {
            let fit = fits(batch)?;
            tried.0.insert(batch, fit);
            Ok(fit)
        }
    };
    let mut low = 0;
    let mut high = 1.min(most);
    while low < high && fits(high)? {
        low = high;
        high = high.saturating_mul(2).min(most);
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if fits(middle)? { low = middle } else { high = middle }
    }
    while let Some(fitting) = first(low + 1..=most.min(low.saturating_add(1 + NEIGHBOURS)), &mut fits)? {
        low = fitting;
    }
    for batch in low.saturating_sub(NEIGHBOURS).max(1)..low {
        fits(batch)?;
    }
    Ok(tried)
}

/// Returns the first batch that fits.
fn first<E>(
    batches: impl IntoIterator<Item = u64>,
    mut fits: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Option<u64>, E> {
    for batch in batches {
        if fits(batch)? {
            return Ok(Some(batch));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Runs the search and counts the calls of `fits`.
    fn search(most: u64, fits: impl Fn(u64) -> bool) -> (Tried, u32) {
        let mut asked = 0;
        let tried = largest(most, |batch| {
            assert!((1..=most).contains(&batch), "{batch} of {most}");
            asked += 1;
            Ok::<_, Infallible>(fits(batch))
        });
        let Ok(tried) = tried;
        (tried, asked)
    }

    #[test]
    fn it_finds_what_a_linear_search_finds() {
        for most in 1..70 {
            for limit in 0..=most {
                let (tried, asked) = search(most, |batch| batch <= limit);
                let linear = (1..=most).rev().find(|&batch| batch <= limit);
                assert_eq!(tried.largest(), linear, "{limit} of {most}");
                assert_eq!(tried.next_failing(), (limit < most).then_some(limit + 1), "{limit} of {most}");
                assert!(tried.gaps().is_empty());
                assert!(asked <= 2 * (64 - limit.leading_zeros()) + 5, "{asked} for {limit} of {most}");
            }
        }
    }

    #[test]
    fn the_example_of_the_head() {
        let (tried, _) = search(1 << 16, |batch| batch <= 13);
        let batches: Vec<_> = tried.0.keys().copied().collect();
        assert_eq!(batches, [1, 2, 4, 8, 11, 12, 13, 14, 15, 16]);
    }

    #[test]
    fn odd_ones_are_told() {
        let (tried, _) = search(100, |batch| batch <= 10 || batch == 12 || batch == 15);
        assert_eq!((tried.largest(), tried.next_failing(), tried.gaps()), (Some(15), Some(16), vec![13, 14]));
        let (tried, _) = search(100, |batch| batch == 2);
        assert_eq!((tried.largest(), tried.gaps()), (Some(2), vec![1]));
    }

    #[test]
    fn an_error_ends_the_search() {
        let mut asked = 0;
        let outcome = largest(100, |batch| {
            asked += 1;
            if batch < 4 { Ok(true) } else { Err(batch) }
        });
        assert_eq!((outcome, asked), (Err(4), 3));
    }
}
