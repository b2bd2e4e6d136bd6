//! Finds ranks that differ from the others.
//!
//! Idea: the median of all ranks is the expected value, whatever one or two of them do, and the median of the distances
//! from it (MAD) is the usual deviation.
//!
//! ```text
//! peaks       10.0  10.1  10.0  12.1  10.2   GiB
//! median      10.1
//! distances    0.1   0.0   0.1   2.0   0.1   MAD 0.1
//! bound        3.5 · 1.4826 · 0.1 = 0.52     so the fourth is an outlier: 2.0 above
//! ```
//!
//! The factor 1.4826 converts the MAD to a standard deviation if values are normally distributed, and 3.5 standard
//! deviations are the bound that Iglewicz and Hoaglin recommend (How to Detect and Handle Outliers, 1993).
//! Ranks of one program are often equal to the byte, so the bound is at least 2 % of the median.

use super::RankFigures;
use crate::analysis::track::category::Category;
use crate::base::{ShortSort, format};

/// Distance from the median that is unusual, in standard deviations.
const BOUND: f64 = 3.5;

/// Factor from a MAD to a standard deviation of normally distributed values.
const NORMAL: f64 = 1.4826;

/// Fraction of the median below which a distance is never unusual.
const LEAST_SHARE: f64 = 0.02;

/// With fewer ranks it cannot be told which one differs from the others.
const LEAST_RANKS: usize = 3;

/// Property in which a rank differs from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlike {
    Peak {
        /// Bytes above the median, negative below.
        bytes: i64,
        /// Category whose bytes at the peak differ most in the same direction, and their distance from their median.
        most: Option<(Category, i64)>,
    },
    /// It grows faster from step to step than the median.
    Growth {
        /// Bytes per step above the median.
        bytes: i64,
    },
    /// It ran out of memory, and most ranks did not.
    OutOfMemory { times: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlier {
    /// Position among the compared ranks.
    pub rank: usize,
    pub unlike: Unlike,
}

impl Outlier {
    /// Describes the difference after the name of the rank: `rank 3 peaks 2.10 GiB above the median: activations`.
    pub fn sentence(&self, name: &str) -> String {
        let size = |bytes: i64| format::bytes(bytes.unsigned_abs());
        let (side, more) = match self.unlike {
            Unlike::Peak { bytes, .. } if bytes < 0 => ("below", "less"),
            _ => ("above", "more"),
        };
        match self.unlike {
            Unlike::Peak { bytes, most } => {
                // The category differs in the direction of the peak.
                let most = most.map(|(category, of)| format!(": {}, {} {more}", category.plural(), size(of)));
                format!("{name} peaks {} {side} the median{}", size(bytes), most.unwrap_or_default())
            }
            Unlike::Growth { bytes } => format!("{name} grows {} more per step than the median", size(bytes)),
            Unlike::OutOfMemory { times: 1 } => format!("{name} ran out of memory once; most ranks did not"),
            Unlike::OutOfMemory { times } => {
                format!("{name} ran out of memory {}; most ranks did not", format::counted(times, "time"))
            }
        }
    }
}

/// Returns the ranks that differ from the others, in order; none if there are fewer than three ranks.
pub fn outliers(ranks: &[RankFigures]) -> Vec<Outlier> {
    if ranks.len() < LEAST_RANKS {
        return Vec::new();
    }
    let peaks = unusual(ranks.iter().map(|rank| rank.peak_live_bytes), |bytes| bytes != 0);
    let peaks = peaks.map(|(rank, bytes)| (rank, Unlike::Peak { bytes, most: most_of(ranks, rank, bytes) }));
    // Only faster growth is a problem.
    let growth = unusual(ranks.iter().map(|rank| rank.growth_bytes_per_step.unwrap_or(0)), |bytes| bytes > 0);
    let growth = growth.map(|(rank, bytes)| (rank, Unlike::Growth { bytes }));
    let are_few_out = ranks.iter().filter(|rank| rank.ooms > 0).count() * 2 < ranks.len();
    let out = ranks.iter().enumerate().filter(|(_, of)| are_few_out && of.ooms > 0);
    let out = out.map(|(rank, of)| (rank, Unlike::OutOfMemory { times: of.ooms }));
    let mut found: Vec<Outlier> =
        peaks.chain(growth).chain(out).map(|(rank, unlike)| Outlier { rank, unlike }).collect();
    found.short_sort_by_key(|outlier| outlier.rank);
    found
}

/// Returns the positions of the unusual values and their distances above the median.
fn unusual(values: impl Iterator<Item = u64>, counts: impl Fn(i64) -> bool) -> impl Iterator<Item = (usize, i64)> {
    let values: Vec<u64> = values.collect();
    let middle = median(values.clone());
    let mad = median(values.iter().map(|value| value.abs_diff(middle)).collect());
    let bound = (BOUND * NORMAL * mad as f64).max(LEAST_SHARE * middle as f64);
    let far = values.into_iter().map(move |value| value as i64 - middle as i64).enumerate();
    far.filter(move |&(_, bytes)| bytes.unsigned_abs() as f64 > bound).filter(move |&(_, bytes)| counts(bytes))
}

/// Returns the category that is farthest from its median in the direction of the peak.
fn most_of(ranks: &[RankFigures], rank: usize, bytes: i64) -> Option<(Category, i64)> {
    let far = Category::ALL.into_iter().map(|category| {
        let middle = median(ranks.iter().map(|rank| rank.bytes_of(category)).collect());
        (category, ranks[rank].bytes_of(category) as i64 - middle as i64)
    });
    far.filter(|&(_, of)| of.signum() == bytes.signum()).max_by_key(|&(_, of)| of.unsigned_abs())
}

/// Returns the median, the mean of the two middle values rounded down if their number is even; 0 for no values.
fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    match (values.len(), values.len() / 2) {
        (0, _) => 0,
        (count, middle) if count % 2 == 1 => values[middle],
        (_, middle) => u64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(parameters: u64, activations: u64) -> RankFigures {
        RankFigures {
            peak_live_bytes: parameters + activations,
            peak_by_category: [(Category::Parameter, parameters), (Category::Activation, activations)].into(),
            growth_bytes_per_step: Some(0),
            ..RankFigures::default()
        }
    }

    #[track_caller]
    fn check(ranks: &[RankFigures], expected: &[&str]) {
        let found = outliers(ranks);
        let sentence = |outlier: &Outlier| outlier.sentence(&format!("rank {}", outlier.rank));
        assert_eq!(found.iter().map(sentence).collect::<Vec<_>>(), expected);
    }

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_worked_example() {
        let ranks = [1000, 1010, 1000, 1210, 1020].map(|peak| rank(600 * MIB, (peak - 600) * MIB));
        check(&ranks, &["rank 3 peaks 200 MiB above the median: activations, 200 MiB more"]);
    }

    #[test]
    fn equal_ranks_have_a_least_bound() {
        let ranks = |last| [10_000, 10_000, 10_000, last].map(|peak| rank(peak, 0));
        check(&ranks(10_200), &[]);
        // Of two ranks it is not known which one is unusual.
        check(&[rank(1, 0), rank(1 << 30, 0)], &[]);
        check(&[], &[]);
        check(&ranks(10_201), &["rank 3 peaks 201 B above the median: parameters, 201 B more"]);
        check(&ranks(9000), &["rank 3 peaks 0.977 KiB below the median: parameters, 0.977 KiB less"]);
    }

    #[test]
    fn growth_and_missing_memory_are_unusual_too() {
        let mut ranks = vec![rank(8, 8); 4];
        ranks[1].growth_bytes_per_step = Some(3 * MIB);
        ranks[2].ooms = 2;
        let expected = [
            "rank 1 grows 3.00 MiB more per step than the median",
            "rank 2 ran out of memory 2 times; most ranks did not",
        ];
        check(&ranks, &expected);
        ranks.iter_mut().for_each(|rank| rank.ooms = 1);
        check(&ranks, &expected[..1]);
    }

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(vec![]), 0);
        assert_eq!(median(vec![5, 1, 9]), 5);
        assert_eq!(median(vec![1, 4]), 2);
    }
}
