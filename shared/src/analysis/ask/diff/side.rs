//! Identifies the moments that can be compared.

use crate::analysis::study::steps::Steps;
use crate::analysis::track::timeline::Timeline;
use serde::{Deserialize, Serialize};

/// Moment that is one side of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// Moment with the highest live bytes.
    #[default]
    Peak,
    /// Moment before the first event.
    Start,
    /// Moment after the last event.
    End,
    Moment(u32),
    /// Moment of a step's highest live bytes; the step is given by its position.
    ///
    /// It does not stand for what the step allocates, because most of that is never alive at the same time and its sum
    /// says nothing about the memory of the card.
    Step(u32),
}

impl Side {
    /// Returns the moment of the side, `None` if there is no such moment or step.
    pub fn moment(self, timeline: &Timeline, steps: Option<&Steps>) -> Option<u32> {
        match self {
            Self::Peak => Some(timeline.live_peak().0),
            Self::Start => Some(0),
            Self::End => Some(timeline.events()),
            Self::Moment(moment) => (moment <= timeline.events()).then_some(moment),
            Self::Step(position) => {
                let step = steps?.steps.get(position as usize)?;
                Some(timeline.live_max_in(step.start.saturating_add(1)..step.end.saturating_add(1)).0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::study::step::Step;
    use crate::analysis::study::steps::StepSource;
    use crate::trace::text;

    #[track_caller]
    fn check(side: Side, moment: Option<u32>) {
        let trace = text::parse("alloc a 5\nalloc b 9\nfree_completed b\nalloc c 1\nfree_completed a").unwrap();
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        let steps = [Step { start: 0, end: 1 }, Step { start: 2, end: 5 }].to_vec();
        let steps = Steps { source: StepSource::Period, steps };
        assert_eq!(side.moment(&timeline, Some(&steps)), moment);
    }

    #[test]
    fn sides_are_moments() {
        check(Side::Peak, Some(2));
        check(Side::Start, Some(0));
        check(Side::End, Some(5));
        check(Side::Moment(5), Some(5));
        check(Side::Moment(6), None);
    }

    #[test]
    fn a_step_is_its_peak() {
        check(Side::Step(0), Some(1));
        // The state before its first event belongs to the step before.
        check(Side::Step(1), Some(4));
        check(Side::Step(2), None);
    }
}
