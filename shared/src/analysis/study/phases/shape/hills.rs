//! Finds the hills of a curve.

use std::ops::Range;

/// The top of a hill is over once the curve has fallen by more than 1/2 of its rise.
const LEAST_FALL: u64 = 2;

/// The next hill begins once the curve rises again by more than 1/10 of the distance from the last top to the lowest
/// point.
const LEAST_RISE: u64 = 10;

/// A hill must rise by more than 1/100 of the curve's highest value.
const LEAST_HEIGHT: u64 = 100;

/// The top of a hill is the part that is at most 1/10 of its rise below the highest point.
const TOP: u64 = 10;

/// A rise of the curve and the fall after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hill {
    /// Last of the lowest moments before the rise.
    pub(super) foot: u32,
    /// First and last moment of the top; `end` is the last one itself.
    pub(super) top: Range<u32>,
}

/// Returns the hills of a curve in order.
pub(super) fn of(curve: &[u64]) -> Vec<Hill> {
    let least = curve.iter().copied().max().unwrap_or(0) / LEAST_HEIGHT;
    let mut hills = Vec::new();
    let (mut low, mut high) = (0, 0);
    let mut is_rising = true;
    for (moment, &bytes) in curve.iter().enumerate() {
        if is_rising {
            if bytes > curve[high] {
                high = moment;
            }
            let rise = curve[high] - curve[low];
            if rise > least && bytes < curve[high] - rise / LEAST_FALL {
                hills.push(hill(curve, low, high, moment));
                (is_rising, low) = (false, moment);
            } else if bytes <= curve[low] {
                (low, high) = (moment, moment);
            }
        } else if bytes <= curve[low] {
            low = moment;
        } else if bytes > curve[low] + (curve[high] - curve[low]) / LEAST_RISE {
            (is_rising, high) = (true, moment);
        }
    }
    hills
}

fn hill(curve: &[u64], foot: usize, high: usize, fallen: usize) -> Hill {
    let least = curve[high] - (curve[high] - curve[foot]) / TOP;
    let is_top = |moment: &usize| curve[*moment] >= least;
    let first = (foot..=high).find(is_top).unwrap_or(high);
    let last = (high..fallen).rev().find(is_top).unwrap_or(high);
    Hill { foot: foot as u32, top: first as u32..last as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the hills of a curve, written as `foot, top..top`.
    #[track_caller]
    fn check(curve: &[u64], expected: &[&str]) {
        let found = of(curve).into_iter().map(|hill| format!("{}, {}..{}", hill.foot, hill.top.start, hill.top.end));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn hills_rise_and_fall() {
        // A hill rises and falls.
        check(&[0, 0, 40, 80, 100, 99, 100, 60, 20, 0], &["1, 4..6"]);
        check(&[0, 10, 20], &[]);
        check(&[], &[]);
        // Small bumps are no hills.
        check(&[0, 50, 100, 80, 85, 40, 45, 20, 25, 0], &["0, 2..2"]);
        // Hills have heights of their own.
        check(&[0, 100, 0, 0, 20, 0, 60, 5], &["0, 1..1", "3, 4..4", "5, 6..6"]);
        check(&[0, 100, 30, 90, 0], &["0, 1..1", "2, 3..3"]);
    }
}
