//! Searches for the largest value with which something fits, with as few trials as its peaks allow.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Factor from a value to the next one where the last two had the same peak, and the largest factor for an estimate:
/// with small values, the peak of a training is that of its optimizer.
const STRIDE: u64 = 16;

/// The values that were tried, with the peak in bytes of those that fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tried(BTreeMap<u64, Option<u64>>);

impl Tried {
    /// Returns the largest value that fits, or `None` if none does.
    pub fn largest(&self) -> Option<u64> {
        self.fitting().next().map(|(value, _)| value)
    }

    /// Returns the smallest tried value above the answer, which does not fit; `None` if there is none.
    pub fn next_failing(&self) -> Option<u64> {
        self.0.range(self.largest().map_or(0, |largest| largest + 1)..).next().map(|(&value, _)| value)
    }

    /// Returns the values that do not fit although a larger one does.
    pub fn gaps(&self) -> Vec<u64> {
        let largest = self.largest().unwrap_or(0);
        self.0.range(..largest).filter(|(_, peak)| peak.is_none()).map(|(&value, _)| value).collect()
    }

    /// Returns the values that fit with their peaks, the largest first.
    fn fitting(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().rev().filter_map(|(&value, peak)| Some((value, (*peak)?)))
    }
}

#[derive(Debug, Clone)]
pub struct Search {
    /// Values from which the answer is chosen; the smallest is at least 1.
    pub values: RangeInclusive<u64>,
    /// Memory that the peaks may fill, in bytes; without it, the search doubles and bisects whatever they are.
    pub room_bytes: Option<u64>,
    /// The answer that is expected before the first trial.
    pub expected: Option<u64>,
    /// Number of values tried beyond the first that does not fit, and below the answer.
    pub neighbours: u64,
}

impl Search {
    /// Returns a search that looks at no peaks.
    pub fn of(values: RangeInclusive<u64>) -> Self {
        Self { values, room_bytes: None, expected: None, neighbours: 0 }
    }

    /// Finds the largest value that fits.
    ///
    /// `trial` returns the peak in bytes of a value that fits, and is called at most once per value.
    /// What fits is taken to fit with any smaller value, except among the neighbours of the answer.
    ///
    /// # Errors
    ///
    /// Returns the first error of `trial`.
    pub fn largest<E>(&self, mut trial: impl FnMut(u64) -> Result<Option<u64>, E>) -> Result<Tried, E> {
        let mut tried = Tried::default();
        let mut fits = |tried: &mut Tried, value| match tried.0.get(&value) {
            Some(peak) => Ok(peak.is_some()),
            None => trial(value).map(|peak| tried.0.entry(value).or_insert(peak).is_some()),
        };
        let (least, most) = (*self.values.start(), *self.values.end());
        // Everything up to `low` fits, and nothing from `high` on; the ends are not tried.
        let (mut low, mut high) = (least - 1, most.saturating_add(1));
        let (mut surpassed, mut is_slow, mut is_right) = (0, false, false);
        while low + 1 < high {
            let (width, before) = (high - low, low);
            let most_next = if high <= most || low < least { u64::MAX } else { low.saturating_mul(STRIDE) };
            let estimate = self.estimate(&tried).map(|estimate| estimate.min(most_next));
            let value = match estimate {
                Some(estimate) if !is_slow && estimate < high => {
                    // An estimate that was right is proven by its neighbour; one that was low is left in strides.
                    let stride = 1_u64.checked_shl(surpassed).unwrap_or(u64::MAX);
                    estimate.max(low.saturating_add(if high <= most { 1 } else { stride }))
                }
                // An estimate that was high was so by little.
                Some(estimate) if !is_slow && estimate / 2 < high => high - (width / 16).max(1),
                _ if high <= most => low + width / 2,
                _ if low < least => least,
                _ => low.saturating_mul(if self.is_level(&tried) { STRIDE } else { 2 }),
            };
            let value = value.clamp(low + 1, high - 1);
            if fits(&mut tried, value)? {
                low = value
            } else {
                high = value
            }
            surpassed += u32::from(estimate.is_some_and(|estimate| estimate <= before + 1));
            // The neighbour of an estimate that was right is tried once before the values are halved.
            let was_right = std::mem::replace(&mut is_right, low == value && estimate == Some(value));
            is_slow = high <= most && high - low > width / 2 && (was_right || !is_right);
        }
        let mut beyond = low;
        while beyond < most.min(low.saturating_add(1 + self.neighbours)) {
            beyond += 1;
            if fits(&mut tried, beyond)? {
                low = beyond;
            }
        }
        for value in low.saturating_sub(self.neighbours).max(least)..low {
            fits(&mut tried, value)?;
        }
        Ok(tried)
    }

    /// Returns the largest value whose peak fits the room, if the peak rises as between the two largest that fit.
    fn estimate(&self, tried: &Tried) -> Option<u64> {
        let room = self.room_bytes?;
        let mut fitting = tried.fitting();
        let rise = fitting.next().zip(fitting.next()).filter(|((_, upper), (_, lower))| upper > lower);
        let Some(((value, upper), (below, lower))) = rise else { return self.expected };
        let more = u128::from(room.saturating_sub(upper)) * u128::from(value - below) / u128::from(upper - lower);
        Some(value.saturating_add(u64::try_from(more).unwrap_or(u64::MAX)))
    }

    /// Returns true if the two largest values that fit have the same peak.
    fn is_level(&self, tried: &Tried) -> bool {
        let mut peaks = tried.fitting().map(|(_, peak)| peak);
        self.room_bytes.is_some() && peaks.next().zip(peaks.next()).is_some_and(|(upper, lower)| upper == lower)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Searches where `peak` says what fits, and returns the values in the order in which they were tried.
    fn search(search: &Search, peak: impl Fn(u64) -> Option<u64>) -> (Tried, Vec<u64>) {
        let mut asked = Vec::new();
        let Ok(tried) = search.largest(|value| {
            assert!(search.values.contains(&value) && !asked.contains(&value), "{value} after {asked:?}");
            asked.push(value);
            Ok::<_, Infallible>(peak(value))
        });
        (tried, asked)
    }

    fn up_to(limit: u64) -> impl Fn(u64) -> Option<u64> {
        move |value| (value <= limit).then_some(0)
    }

    #[test]
    fn it_finds_what_a_linear_search_finds() {
        for most in 1..70 {
            for limit in 0..=most {
                let plan = Search { neighbours: 2, ..Search::of(1..=most) };
                let (tried, asked) = search(&plan, up_to(limit));
                let linear = (1..=most).rev().find(|&value| value <= limit);
                assert_eq!(tried.largest(), linear, "{limit} of {most}");
                assert_eq!(tried.next_failing(), (limit < most).then_some(limit + 1), "{limit} of {most}");
                assert!(tried.gaps().is_empty());
                assert!(asked.len() as u32 <= 2 * (64 - limit.leading_zeros()) + 5, "{asked:?} for {limit} of {most}");
            }
        }
    }

    #[test]
    fn odd_ones_are_told_and_an_error_ends_the_search() {
        let plan = Search { neighbours: 2, ..Search::of(1..=100) };
        let fits = |holds: fn(u64) -> bool| search(&plan, |value| holds(value).then_some(0)).0;
        let tried = fits(|value| value <= 10 || value == 12 || value == 15);
        assert_eq!((tried.largest(), tried.next_failing(), tried.gaps()), (Some(15), Some(16), vec![13, 14]));
        let tried = fits(|value| value == 2);
        assert_eq!((tried.largest(), tried.gaps()), (Some(2), vec![1]));
        let mut asked = 0;
        let outcome = Search::of(1..=100).largest(|value| {
            asked += 1;
            if value < 4 { Ok(Some(0)) } else { Err(value) }
        });
        assert_eq!((outcome, asked), (Err(4), 3));
    }

    /// Peaks in MiB that rise with the value: as a line, as a parabola, in segments of 20 MiB, and up to a bound.
    const PEAKS: [fn(u64, u64, u64) -> u64; 4] = [
        |fixed, each, value| fixed + each * value,
        |fixed, each, value| fixed + each * value * value,
        |fixed, each, value| (fixed + each * value / 8).next_multiple_of(20),
        |fixed, each, value| fixed + each * value.min(50),
    ];

    #[test]
    fn peaks_lead_to_what_a_linear_search_finds() {
        let mut random = 1_u64;
        let mut below = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % most
        };
        for turn in 0..4000 {
            let (room, fixed, each, least) = (4000, below(4200), 1 + below(300), 1 + below(4));
            let most = if below(2) == 0 { 1 << 32 } else { least + below(300) };
            let expected = (below(3) == 0).then(|| 1 + below(200));
            let peak = |value| PEAKS[turn % PEAKS.len()](fixed, each, value);
            let fits = |value| (peak(value) <= room).then(|| peak(value));
            let plan = Search { room_bytes: Some(room), expected, ..Search::of(least..=most) };
            let (tried, asked) = search(&plan, fits);
            let told = format!("{asked:?} of {plan:?} with {fixed} + {each}, {turn}");
            // What fits with 40,000 fits with any value.
            let linear = (least..=most).take(40_000).take_while(|&value| fits(value).is_some()).last();
            let is_bounded = linear.is_none_or(|linear| linear < least + 39_999);
            assert_eq!(tried.largest(), if is_bounded { linear } else { Some(most) }, "{told}");
            let next = tried.largest().map_or(least, |largest| largest + 1);
            assert_eq!(tried.next_failing(), (next <= most).then_some(next), "{told}");
            let bits = 64 - tried.largest().max(expected).unwrap_or(0).leading_zeros();
            assert!(asked.len() as u32 <= 2 * bits + 8, "{told}");
            if turn % PEAKS.len() == 0 && expected.is_none() {
                assert!(asked.len() <= 6, "{told}");
            }
        }
    }

    #[test]
    fn what_is_expected_is_tried_first_and_without_peaks_it_doubles_and_bisects() {
        let (_, mut asked) = search(&Search { neighbours: 2, ..Search::of(1..=1 << 16) }, up_to(13));
        assert_eq!(asked[..5], [1, 2, 4, 8, 16]);
        asked.sort_unstable();
        assert_eq!(asked, [1, 2, 4, 8, 11, 12, 13, 14, 15, 16]);
        let plan = Search { room_bytes: Some(100), expected: Some(12), ..Search::of(1..=1 << 32) };
        let line = |each: u64| move |value: u64| (value * each <= 100).then_some(value * each);
        assert_eq!(search(&plan, line(8)).1, [12, 13]);
        assert_eq!(search(&plan, line(9)).1, [12, 11]);
        assert_eq!(search(&plan, line(7)).1, [12, 13, 15, 14]);
    }
}
