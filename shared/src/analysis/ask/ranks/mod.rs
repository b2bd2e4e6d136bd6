//! Compares the processes of one job and finds ranks that differ from the others.

mod names;
mod outliers;

pub use names::{order_of_ranks, rank_of_name};
pub use outliers::{Outlier, Unlike, outliers};

use crate::analysis::study::categories::categories;
use crate::analysis::study::studied::Study;
use crate::analysis::track::category::Category;
use crate::base::Moment;
use crate::trace::Action;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Figures of one rank that are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankFigures {
    pub peak_live_bytes: u64,
    /// First moment with the highest live bytes.
    #[serde(rename = "peak_event")]
    pub peak_moment: Moment,
    pub peak_reserved_bytes: u64,
    /// Live bytes of each category at the peak, without empty categories.
    pub peak_by_category: BTreeMap<Category, u64>,
    /// Number of steps that were found.
    pub steps: u64,
    /// Average rise in bytes from the end of a step to the end of the next; `None` without steps.
    pub growth_bytes_per_step: Option<u64>,
    /// Number of out-of-memory events.
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

    /// Returns the live bytes of one category at the peak.
    pub fn bytes_of(&self, category: Category) -> u64 {
        self.peak_by_category.get(&category).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::track::timeline::Timeline;
    use crate::trace::text;

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
        let trace = text::parse(source).unwrap();
        let device = &trace.devices[0];
        let timeline = Timeline::new(&trace, device);
        let figures = RankFigures::of_study(&Study::new(&trace, device, &timeline));
        let expected = [(Category::Parameter, 64), (Category::Gradient, 64), (Category::Activation, 100)];
        assert_eq!((figures.peak_live_bytes, figures.peak_moment, figures.ooms), (228, Moment(6), 1));
        assert_eq!(figures.peak_by_category, BTreeMap::from(expected));
        assert_eq!((figures.steps, figures.growth_bytes_per_step), (0, None));
        assert_eq!(figures.bytes_of(Category::Activation), 100);
        assert_eq!(figures.bytes_of(Category::Input), 0);
    }
}
