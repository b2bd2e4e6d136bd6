//! Computes medians and percentiles.

/// Returns the value at the nearest rank of a percentile; 0 for no values.
///
/// `share` is the percentile as a fraction from 0 to 1.
///
/// # Examples
///
/// ```
/// assert_eq!(tools::bench::percentile(&[4.0, 1.0, 3.0, 2.0], 0.5), 3.0);
/// ```
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let index = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(index).copied().unwrap_or(0.0)
}

/// Returns the median, which is the mean of the middle two for an even count; `None` for no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        len if len % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let values: Vec<f64> = (1..=101).rev().map(f64::from).collect();
        assert_eq!(
            (percentile(&values, 0.5), percentile(&values, 0.95), percentile(&values, 1.0)),
            (51.0, 96.0, 101.0)
        );
        assert_eq!((percentile(&[7.0], 0.95), percentile(&[], 0.5)), (7.0, 0.0));
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median([]), None);
    }
}
