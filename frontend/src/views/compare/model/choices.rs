//! Moments to which a side of the comparison can be set.

use crate::ask::{CompareSide, DeviceFigures, StepData, side_value};
use shared::base::{Moment, format};

/// One option of a select box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Value of the option, see [`side_value`].
    pub value: String,
    pub label: String,
}

/// Options of both kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    pub moments: Vec<Choice>,
    /// Peaks of steps.
    pub steps: Vec<Choice>,
}

/// Lists single moments of a device: peak, start, end, the pinned one, and the chosen one if it is yet another.
pub fn moment_choices(figures: &DeviceFigures, pinned: Option<u32>, chosen: CompareSide) -> Vec<Choice> {
    let size = format::bytes;
    let choice = |side: CompareSide, label: String| Choice { value: side_value(side), label };
    let mut choices = vec![
        choice(CompareSide::Peak, format!("Peak, {}", size(figures.summary.peak_live_bytes))),
        choice(CompareSide::Start, format!("Start, {}", size(figures.summary.initial_bytes))),
        choice(CompareSide::End, format!("End, {}", size(figures.summary.end_live_bytes))),
    ];
    if let Some(moment) = pinned {
        choices.push(choice(CompareSide::Moment(moment), format!("Pin, {}", Moment(moment))));
    }
    if let CompareSide::Moment(moment) = chosen
        && pinned != Some(moment)
    {
        choices.push(choice(chosen, Moment(moment).to_string()));
    }
    choices
}

/// Lists the steps of a device, counted from 1.
pub fn step_choices(steps: &[StepData]) -> Vec<Choice> {
    let label = |(step, data): (u32, &StepData)| Choice {
        value: side_value(CompareSide::Step(step)),
        label: format!("Step {}, {}", step + 1, format::bytes(data.peak_bytes)),
    };
    (0..).zip(steps).map(label).collect()
}

/// Returns the name of a side in the legend.
pub fn side_name(side: CompareSide) -> String {
    match side {
        CompareSide::Peak => "peak".to_owned(),
        CompareSide::Start => "start".to_owned(),
        CompareSide::End => "end".to_owned(),
        CompareSide::Moment(moment) => Moment(moment).to_string(),
        CompareSide::Step(step) => format!("peak of step {}", step + 1),
    }
}

/// Returns the sides that are compared at first: this one and the other one.
///
/// Two devices are compared at their peaks. On one device, the last step is compared with an early one, which shows
/// what grows. The first of more than two steps is left out, because memory that stays is allocated in it. With fewer
/// than two steps, the peak is compared with the end.
pub fn default_sides(is_same_device: bool, steps: usize) -> (CompareSide, CompareSide) {
    match (is_same_device, steps) {
        (false, _) => (CompareSide::Peak, CompareSide::Peak),
        (true, 0 | 1) => (CompareSide::Peak, CompareSide::End),
        (true, steps) => (CompareSide::Step(steps as u32 - 1), CompareSide::Step(u32::from(steps > 2))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::side_of_value;
    use shared::report::Summary;

    #[test]
    fn sides_are_values_and_back() {
        for side in
            [CompareSide::Peak, CompareSide::Start, CompareSide::End, CompareSide::Moment(7), CompareSide::Step(0)]
        {
            assert_eq!(side_of_value(&side_value(side)), Some(side));
        }
        for wrong in ["", "m", "sx", "é", "middle"] {
            assert_eq!(side_of_value(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_pin_and_the_chosen_moment_can_be_chosen() {
        let figures = DeviceFigures {
            summary: Summary { peak_live_bytes: 2048, ..Summary::default() },
            ..DeviceFigures::default()
        };
        let labels = |pinned, chosen| -> Vec<String> {
            moment_choices(&figures, pinned, chosen).into_iter().map(|choice| choice.label).collect()
        };
        assert_eq!(labels(None, CompareSide::Peak), ["Peak, 2.00 KiB", "Start, 0 B", "End, 0 B"]);
        assert_eq!(labels(Some(1001), CompareSide::Moment(1001))[3..], ["Pin, after event 1,000"]);
        let both = labels(Some(8), CompareSide::Moment(0));
        assert_eq!(both[3..], ["Pin, after event 7", "before the first event"]);
    }

    #[test]
    fn steps_count_from_one() {
        let steps = [StepData { start: 0, end: 4, peak_bytes: 512 }];
        let choice = &step_choices(&steps)[0];
        assert_eq!((choice.value.as_str(), choice.label.as_str()), ("s0", "Step 1, 512 B"));
        assert_eq!(side_name(CompareSide::Step(0)), "peak of step 1");
    }

    #[test]
    fn the_first_comparison_shows_what_grows() {
        assert_eq!(default_sides(false, 9), (CompareSide::Peak, CompareSide::Peak));
        assert_eq!(default_sides(true, 1), (CompareSide::Peak, CompareSide::End));
        assert_eq!(default_sides(true, 2), (CompareSide::Step(1), CompareSide::Step(0)));
        assert_eq!(default_sides(true, 9), (CompareSide::Step(8), CompareSide::Step(1)));
    }
}
