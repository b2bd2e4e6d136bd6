//! Compares the processes of one job and finds ranks that differ from the others.

mod names;
mod outliers;

pub use names::{order_of_ranks, rank_of_name};
pub use outliers::{Outlier, Unlike, outliers};

use crate::analysis::study::categories::categories;
use crate::analysis::study::studied::Study;
use crate::analysis::track::category::Category;
use crate::trace::Action;
use serde::{Deserialize, Serialize};

/// Figures of one rank that are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankFigures {
    pub peak_bytes: u64,
    /// First moment with the highest live bytes.
    pub peak_moment: u32,
    pub reserved_bytes: u64,
    /// Live bytes of each category at the peak, in the order of [`Category::ALL`], without empty categories.
    pub at_peak: Vec<(Category, u64)>,
    pub steps: usize,
    /// Average rise in bytes from the end of a step to the end of the next; `None` without steps.
    pub growth_bytes: Option<u64>,
    /// Number of out-of-memory events.
    pub ooms: u64,
}

impl RankFigures {
    /// Computes the figures of one device of one file; `categories` are those of its allocations, by index.
    pub fn of(study: &Study<'_>, categories: &[Category]) -> Self {
        let timeline = study.timeline;
        let (peak_moment, peak_bytes) = timeline.live_peak();
        let mut bytes = [0_u64; Category::ALL.len()];
        for (id, size_bytes) in timeline.allocations.alive_at(peak_moment) {
            // Each category's discriminant is its position in `ALL`.
            bytes[categories[id.index()] as usize] += size_bytes;
        }
        let steps = study.steps.as_ref().map(|steps| steps.steps.len());
        Self {
            peak_bytes,
            peak_moment,
            reserved_bytes: timeline.reserved_peak().1,
            at_peak: Category::ALL.into_iter().zip(bytes).filter(|&(_, bytes)| bytes > 0).collect(),
            steps: steps.unwrap_or(0),
            growth_bytes: steps.map(|_| study.growth.bytes_per_step()),
            ooms: study.device.events.actions().iter().filter(|&action| action == Action::Oom).count() as u64,
        }
    }

    /// Computes the figures of a device whose categories are not known yet.
    pub fn of_study(study: &Study<'_>) -> Self {
        let categories = categories(study.device, &study.timeline.allocations, &study.phases);
        Self::of(study, &categories)
    }

    /// Returns the live bytes of one category at the peak.
    pub fn bytes_of(&self, category: Category) -> u64 {
        self.at_peak.iter().find(|(of, _)| *of == category).map_or(0, |&(_, bytes)| bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::track::timeline::Timeline;
    use crate::trace::text;

    #[test]
    fn categories_stand_at_their_places() {
        for (place, category) in Category::ALL.into_iter().enumerate() {
            assert_eq!(category as usize, place);
        }
    }

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
        assert_eq!((figures.peak_bytes, figures.peak_moment, figures.ooms), (228, 6, 1));
        assert_eq!(figures.at_peak, expected);
        assert_eq!((figures.steps, figures.growth_bytes), (0, None));
        assert_eq!(figures.bytes_of(Category::Activation), 100);
        assert_eq!(figures.bytes_of(Category::Input), 0);
    }
}
