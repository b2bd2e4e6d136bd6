//! Maps the values of the horizontal axis to positions.

use crate::draw::span::Span;

/// Minimum ratio of the largest to the smallest value at which uneven values are spaced logarithmically.
const WIDE: f64 = 4.0;

/// Returns the position of each value: numbers are spaced by their size and words evenly.
pub(super) fn places(values: &[String], is_number: bool, across: Span) -> Vec<f64> {
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
    let inset = if is_number { 28.0 } else { across.len() / (2.0 * values.len().max(1) as f64) };
    let inner = Span::new(across.start + inset, across.end - inset);
    let share = |at: f64| if last > first { (at - first) / (last - first) } else { 0.5 };
    positions.into_iter().map(|at| inner.at(share(at))).collect()
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
        let places: Vec<f64> = places(&values, is_number, Span::new(0.0, 256.0)).iter().map(|at| at.round()).collect();
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
}
