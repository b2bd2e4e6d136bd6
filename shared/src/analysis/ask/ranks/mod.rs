//! Compares the processes of one job, finds ranks that differ from the others, and reads ranks from names of files.

mod outliers;

use crate::analysis::study::categories::categories;
use crate::analysis::study::studied::Study;
use crate::analysis::track::category::Category;
use crate::base::{Moment, ShortSort};
use crate::trace::Action;
pub use outliers::{Outlier, Unlike, outliers};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankFigures {
    pub peak_live_bytes: u64,
    /// First moment with the highest live bytes.
    #[serde(rename = "peak_event")]
    pub peak_moment: Moment,
    pub peak_reserved_bytes: u64,
    /// Live bytes of each category at the peak, without empty categories.
    pub peak_by_category: BTreeMap<Category, u64>,
    pub steps: u64,
    /// Average rise in bytes from the end of a step to the end of the next; `None` without steps.
    pub growth_bytes_per_step: Option<u64>,
    pub ooms: u64,
}

impl RankFigures {
    /// Computes the figures of one device of one file; `categories` are those of its allocations, by index.
    pub fn of(study: &Study<'_>, categories: &[Category]) -> Self {
        let timeline = study.timeline;
        let (peak_moment, peak_live_bytes) = timeline.live_peak();
        let mut peak_by_category = BTreeMap::new();
        for (id, size_bytes) in timeline.allocations.alive_at(peak_moment).filter(|&(_, size_bytes)| size_bytes > 0) {
            *peak_by_category.entry(categories[id.index()]).or_default() += size_bytes;
        }
        let steps = study.steps.as_ref().map(|steps| steps.steps.len() as u64);
        Self {
            peak_live_bytes,
            peak_moment: Moment(peak_moment),
            peak_reserved_bytes: timeline.reserved_peak().1,
            peak_by_category,
            steps: steps.unwrap_or(0),
            growth_bytes_per_step: steps.map(|_| study.growth.bytes_per_step()),
            ooms: study.device.events.actions().iter().filter(|&action| action == Action::Oom).count() as u64,
        }
    }

    /// Computes the figures of a device whose categories are not known yet.
    pub fn of_study(study: &Study<'_>) -> Self {
        let categories = categories(study.device, study.timeline, &study.phases);
        Self::of(study, &categories)
    }

    pub fn bytes_of(&self, category: Category) -> u64 {
        self.peak_by_category.get(&category).copied().unwrap_or(0)
    }
}

/// Returns the rank in a file's name, if there is one.
///
/// This is the last number that follows the word `rank` (`rank0`, `snapshot_rank-3of8.pickle`), or else a separate
/// number at the end of the name (`snapshot.3.pickle`, `oom_12.pkl.gz`, `7.pickle`).
pub fn rank_of_name(name: &str) -> Option<u64> {
    let lower = name.to_ascii_lowercase();
    lower.rmatch_indices("rank").find_map(|(start, word)| leading_number(&lower[start + word.len()..])).or_else(|| {
        let stem = without_extensions(&lower);
        let start = stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let is_apart = start == 0 || stem[..start].ends_with(SEPARATORS);
        is_apart.then(|| stem[start..].parse().ok())?
    })
}

/// Returns the positions of the files in the order of their ranks, and the rank of each.
///
/// If a name has no rank, or two have the same, the ranks are the positions in `names`.
pub fn order_of_ranks(names: &[&str]) -> Vec<(usize, u64)> {
    let told: Option<Vec<u64>> = names.iter().map(|name| rank_of_name(name)).collect();
    let mut order: Vec<(usize, u64)> = (0..names.len()).map(|position| (position, position as u64)).collect();
    if let Some(told) = told {
        let mut by_rank: Vec<(usize, u64)> = told.into_iter().enumerate().collect();
        by_rank.short_sort_by_key(|&(position, rank)| (rank, position));
        if by_rank.windows(2).all(|pair| pair[0].1 < pair[1].1) {
            order = by_rank;
        }
    }
    order
}

const SEPARATORS: [char; 5] = ['-', '_', '.', '=', ' '];

const EXTENSIONS: [&str; 6] = [".gz", ".pickle", ".pkl", ".json", ".html", ".snapshot"];

fn leading_number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches(SEPARATORS);
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

fn without_extensions(name: &str) -> &str {
    match EXTENSIONS.iter().find_map(|extension| name.strip_suffix(extension)) {
        Some(stem) => without_extensions(stem),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::tests::Sample;

    #[test]
    fn figures_are_of_the_peak() {
        let source = "
            alloc w 64 @setup@phase
            alloc a 100 @forward@phase
            alloc t 7 @forward@phase
            free_completed t
            oom 4GiB free=0
            alloc g 64 @backward@phase
        ";
        let figures = RankFigures::of_study(&Sample::of(source).study());
        let expected = [(Category::Parameter, 64), (Category::Gradient, 64), (Category::Activation, 100)];
        assert_eq!((figures.peak_live_bytes, figures.peak_moment, figures.ooms), (228, Moment(6), 1));
        assert_eq!(figures.peak_by_category, BTreeMap::from(expected));
        assert_eq!((figures.steps, figures.growth_bytes_per_step), (0, None));
        assert_eq!(figures.bytes_of(Category::Activation), 100);
        assert_eq!(figures.bytes_of(Category::Input), 0);
    }

    #[track_caller]
    fn check(name: &str, rank: Option<u64>) {
        assert_eq!(rank_of_name(name), rank, "{name}");
    }

    #[test]
    fn names_tell_ranks_or_none() {
        check("rank0.pickle", Some(0));
        check("memory_rank_3.pickle.gz", Some(3));
        check("fsdp2-gpt2-rank0of8.pickle.gz", Some(0));
        check("Rank=12_step_500.pickle", Some(12));
        check("snapshot.3.pickle", Some(3));
        check("oom_12.pkl.gz", Some(12));
        check("7.pickle", Some(7));
        check("snapshot.pickle", None);
        check("gpt2.pickle", None);
        check("rank.pickle", None);
        check("ranking-of-h100.pickle", None);
        check("rank99999999999999999999.pickle", None);
        check("", None);
    }

    #[test]
    fn ranks_are_the_order() {
        assert_eq!(order_of_ranks(&["rank10.pickle", "rank2.pickle"]), [(1, 2), (0, 10)]);
        assert_eq!(order_of_ranks(&["rank1.pickle", "a.pickle"]), [(0, 0), (1, 1)]);
        assert_eq!(order_of_ranks(&["a/rank1.pickle", "b/rank1.pickle"]), [(0, 0), (1, 1)]);
        assert_eq!(order_of_ranks(&[]), []);
    }
}
