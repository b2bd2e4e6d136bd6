//! Maps the values of the horizontal axis to positions.

use std::ops::Range;

/// Minimum distance between two labelled ticks.
const LABEL_WIDTH: f64 = 40.0;

/// Minimum ratio of the largest to the smallest value at which uneven values are spaced logarithmically.
const WIDE: f64 = 4.0;

/// Horizontal positions by index of the value.
pub(super) struct X {
    places: Vec<f64>,
}

impl X {
    /// Spaces numbers by their size and words evenly.
    pub(super) fn new(values: &[String], is_number: bool, across: Range<f64>) -> Self {
        let numbers: Vec<f64> = values.iter().map(|value| value.parse().unwrap_or(0.0)).collect();
        let by_doubling = is_number && grows(&numbers);
        let position = |index: usize| match () {
            () if !is_number => index as f64,
            () if by_doubling => numbers[index].log2(),
            () => numbers[index],
        };
        let positions: Vec<f64> = (0..values.len()).map(position).collect();
        let (first, last) = (positions.first().copied().unwrap_or(0.0), positions.last().copied().unwrap_or(0.0));
        // Words are centred in their part; numbers extend from edge to edge, with room for their marks.
        let inset = if is_number { 28.0 } else { (across.end - across.start) / (2.0 * values.len().max(1) as f64) };
        let (start, width) = (across.start + inset, across.end - across.start - 2.0 * inset);
        let share = |at: f64| if last > first { (at - first) / (last - first) } else { 0.5 };
        Self { places: positions.into_iter().map(|at| start + share(at) * width).collect() }
    }

    pub(super) fn at(&self, value: usize) -> f64 {
        self.places[value]
    }

    /// Returns the labelled values and their positions, without overlap.
    pub(super) fn ticks(&self) -> Vec<(usize, f64)> {
        let mut ticks: Vec<(usize, f64)> = Vec::new();
        for (value, &at) in self.places.iter().enumerate() {
            if ticks.last().is_none_or(|(_, last)| at - last >= LABEL_WIDTH) {
                ticks.push((value, at));
            }
        }
        ticks
    }
}

/// Returns true if ordered values are spaced more and more widely: `1, 2, 4, 8`, but not `1, 2, 3, 4`.
fn grows(values: &[f64]) -> bool {
    let [least, .., most] = values else { return false };
    let gaps = || values.windows(2).map(|pair| pair[1] - pair[0]);
    let (narrowest, widest) = (gaps().fold(f64::MAX, f64::min), gaps().fold(0.0, f64::max));
    *least > 0.0 && most / least >= WIDE && widest >= 2.0 * narrowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_x(values: &[&str], is_number: bool, expected: &[f64]) {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        let x = X::new(&values, is_number, 0.0..256.0);
        let places: Vec<f64> = (0..values.len()).map(|value| x.at(value).round()).collect();
        assert_eq!(places, expected);
    }

    #[test]
    fn wide_ranges_are_spaced_by_doubling() {
        check_x(&["1", "2", "4", "8", "16"], true, &[28.0, 78.0, 128.0, 178.0, 228.0]);
        check_x(&["2", "4", "8"], true, &[28.0, 128.0, 228.0]);
        check_x(&["1", "2", "3", "4", "5"], true, &[28.0, 78.0, 128.0, 178.0, 228.0]);
        check_x(&["1", "2", "3"], true, &[28.0, 128.0, 228.0]);
        check_x(&["fp32", "bf16"], false, &[64.0, 192.0]);
        check_x(&["8"], true, &[128.0]);
    }

    #[test]
    fn labels_keep_their_distance() {
        let values: Vec<String> = (1..=7).map(|value| value.to_string()).collect();
        let ticks = X::new(&values, true, 0.0..200.0).ticks();
        assert_eq!(ticks.iter().map(|(value, _)| *value).collect::<Vec<_>>(), [0, 2, 4, 6]);
    }
}
