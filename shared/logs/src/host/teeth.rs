//! Cuts a curve into rises and falls.
//!
//! Idea: a turning point counts once the curve has gone back from it by a threshold, so that noise turns nothing.
//!
//! ```text
//!      /|    /|
//!    /  |  /  |  /      three rises and two falls
//!  /    |/    |/
//! ```

/// Rise or fall of a curve between two turning points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    pub start: usize,
    pub end: usize,
    pub from: u64,
    pub to: u64,
}

impl Leg {
    pub fn is_rise(&self) -> bool {
        self.to > self.from
    }
}

/// Returns the rises and falls of a curve, in turn; none if it never moves by `threshold`, which must be positive.
///
/// The first leg begins at the curve's first turning point, and each other where the one before ends.
/// Cost: linear in the values.
pub(super) fn legs(values: &[u64], threshold: u64) -> Vec<Leg> {
    let points = turning_points(values, threshold);
    let leg = |ends: &[usize]| Leg { start: ends[0], end: ends[1], from: values[ends[0]], to: values[ends[1]] };
    points.windows(2).map(leg).collect()
}

/// Returns the positions at which the curve turns, with its last extreme.
///
/// Of equal lows the last one begins a rise; of equal highs the first one ends it.
fn turning_points(values: &[u64], threshold: u64) -> Vec<usize> {
    let mut points = Vec::new();
    let (mut low, mut high) = (0, 0);
    let mut is_rising = None;
    for (position, &value) in values.iter().enumerate() {
        if value <= values[low] {
            low = position;
        }
        if value > values[high] {
            high = position;
        }
        if is_rising != Some(true) && value - values[low] >= threshold {
            points.push(low);
            (is_rising, high) = (Some(true), position);
        } else if is_rising != Some(false) && values[high] - value >= threshold {
            points.push(high);
            (is_rising, low) = (Some(false), position);
        }
    }
    points.extend(is_rising.map(|is_rising| if is_rising { high } else { low }));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[u64], threshold: u64, expected: &[(usize, usize)]) {
        let found: Vec<_> = legs(values, threshold).iter().map(|leg| (leg.start, leg.end)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn teeth_are_rises_and_falls_that_noise_does_not_turn() {
        check(&[1, 5, 9, 1, 5, 9, 2, 9], 4, &[(0, 2), (2, 3), (3, 5), (5, 6), (6, 7)]);
        assert!(legs(&[1, 9, 1], 4)[0].is_rise() && !legs(&[1, 9, 1], 4)[1].is_rise());
        check(&[10, 12, 11, 14, 13, 20, 19, 21], 5, &[(0, 7)]);
        check(&[10, 12, 11, 14, 13], 5, &[]);
        check(&[], 5, &[]);
        check(&[3, 3, 3, 9, 9, 9], 4, &[(2, 3)]);
        check(&[9, 9, 3, 3, 3], 4, &[(0, 4)]);
    }
}
