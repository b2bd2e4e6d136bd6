//! How much of a card PyTorch can have, what others have of it, and when growth has used it up.
//!
//! ```text
//! │ reserved by PyTorch │ free │ outside: context, NCCL, other processes │
//! ├────── budget ──────────────┤                                         │
//! ├──────────────────────── capacity ─────────────────────────────────────┤
//! ```
//!
//! A snapshot names no card. Its `oom` events have what was free, which tells the budget; the user knows the capacity.

use super::{Axis, Study, recorded_capacity};
use crate::trace::Action;

/// What tells how much PyTorch can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetSource {
    /// The capacity that the user gave, as if PyTorch had all of it.
    Given,
    /// The capacity that the user gave, less what others had of it when memory was out.
    GivenLessOutside,
    /// What was reserved and what was free when memory was out.
    OutOfMemory,
}

crate::names!(BudgetSource {
    Given => "capacity",
    GivenLessOutside => "capacity-less-outside",
    OutOfMemory => "out-of-memory",
});

/// What of a card PyTorch can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// In bytes.
    pub bytes: u64,
    /// What tells it.
    pub source: BudgetSource,
}

impl Budget {
    /// The budget on a card of `capacity_bytes`, or as far as the trace tells it; `None` where nothing does.
    pub fn of(study: &Study<'_>, capacity_bytes: Option<u64>) -> Option<Self> {
        let recorded = recorded_capacity(study.device, study.timeline);
        match (capacity_bytes, recorded) {
            (Some(capacity), Some(recorded)) if recorded == capacity => {
                Some(Self { bytes: recorded, source: BudgetSource::OutOfMemory })
            }
            // On a smaller card than the recording's nothing is known of the others.
            (Some(capacity), Some(recorded)) if recorded <= capacity => {
                Some(Self { bytes: recorded, source: BudgetSource::GivenLessOutside })
            }
            (Some(bytes), _) => Some(Self { bytes, source: BudgetSource::Given }),
            (None, Some(bytes)) => Some(Self { bytes, source: BudgetSource::OutOfMemory }),
            (None, None) => None,
        }
    }
}

/// What of a card neither PyTorch's allocator had nor was free when memory was first out; and that event.
///
/// `None` without an `oom` event, and where the card is smaller than what the trace had.
pub fn outside_bytes(study: &Study<'_>, capacity_bytes: u64) -> Option<(u64, u32)> {
    let event = study.device.events.actions().iter().position(|action| action == Action::Oom)?;
    let recorded = recorded_capacity(study.device, study.timeline)?;
    Some((capacity_bytes.checked_sub(recorded)?, event as u32))
}

/// When what grows has used up the budget of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UntilFull {
    /// The budget.
    pub budget: Budget,
    /// By how many bytes the end of a step is higher than that of the one before.
    pub bytes_per_step: u64,
    /// So many more steps like the recorded ones fit, if all else stays as it is.
    pub steps: u64,
    /// As many events as those steps have on average.
    pub events: u64,
    /// The time that those steps take on average, in microseconds, in a trace with times.
    pub time_us: Option<u64>,
}

/// Goes on with the growth of a trace from its peak; `None` without growth, steps or a budget.
///
/// What is reserved is at least what is live, so the card is full then at the latest.
pub fn until_full(study: &Study<'_>, capacity_bytes: Option<u64>) -> Option<UntilFull> {
    let budget = Budget::of(study, capacity_bytes)?;
    let bytes_per_step = study.growth.bytes_per_step();
    let left = budget.bytes.checked_sub(study.timeline.live_peak().1)?;
    let steps = left.checked_div(bytes_per_step)?;
    let (first, last) = study.steps.as_ref().and_then(|found| Some((found.steps.first()?, found.steps.last()?)))?;
    let times_steps = |whole: u64| (u128::from(whole) * u128::from(steps) / study.growth.steps.max(1) as u128) as u64;
    let timeline = study.timeline;
    let us = |moment: u32| timeline.x_of_moment(study.device, Axis::Time, moment);
    Some(UntilFull {
        budget,
        bytes_per_step,
        steps,
        events: times_steps(u64::from(last.end - first.start)),
        time_us: timeline.has_times().then(|| times_steps((us(last.end) - us(first.start)).max(0.0) as u64)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Timeline;
    use super::*;
    use crate::trace::text;

    /// Four steps of a millisecond with four events each, which keep a MiB; the peak is 5 MiB.
    fn leak(end: &str) -> String {
        let step = |step: usize| {
            let us = step * 1000;
            format!(
                "start step_{step} t={us}\nalloc k.{step} 1MiB @k<forward@phase t={}\n\
                 alloc t.{step} 1MiB @t<forward@phase t={}\nfree t.{step} t={}\nend step_{step} t={}\n",
                us + 10,
                us + 20,
                us + 30,
                us + 900
            )
        };
        (0..4).map(step).collect::<String>() + end
    }

    #[track_caller]
    fn check(end: &str, capacity_mib: Option<u64>, expected: Option<(u64, BudgetSource, u64, u64)>) {
        let trace = text::parse(&leak(end)).unwrap();
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        let study = Study::new(&trace, &trace.devices[0], &timeline);
        let found = until_full(&study, capacity_mib.map(|mib| mib << 20));
        let row = |found: UntilFull| (found.budget.bytes >> 20, found.budget.source, found.steps, found.events);
        assert_eq!(found.map(row), expected);
        assert!(found.is_none_or(|found| found.time_us.is_some()));
    }

    #[test]
    fn growth_goes_on_from_the_peak() {
        check("", Some(105), Some((105, BudgetSource::Given, 100, 400)));
        check("", Some(5), Some((5, BudgetSource::Given, 0, 0)));
        check("", Some(4), None);
        check("", None, None);
    }

    #[test]
    fn an_out_of_memory_tells_the_room() {
        let oom = "oom 64MiB free=10MiB t=4100\nsegment S 20MiB";
        check(oom, None, Some((30, BudgetSource::OutOfMemory, 25, 100)));
        check(oom, Some(40), Some((30, BudgetSource::GivenLessOutside, 25, 100)));
        check(oom, Some(25), Some((25, BudgetSource::Given, 20, 80)));
    }

    #[test]
    fn what_is_outside_is_neither_reserved_nor_free() {
        let of = |text: &str, capacity_mib: u64| {
            let trace = text::parse(text).unwrap();
            let timeline = Timeline::new(&trace, &trace.devices[0]);
            let study = Study::new(&trace, &trace.devices[0], &timeline);
            outside_bytes(&study, capacity_mib << 20).map(|(bytes, event)| (bytes >> 20, event))
        };
        let text = "alloc a 5MiB\noom 64MiB free=10MiB\nsegment S 20MiB\nblock a 5MiB";
        assert_eq!(of(text, 42), Some((12, 1)));
        assert_eq!((of(text, 30), of(text, 29)), (Some((0, 1)), None));
        assert_eq!(of("alloc a 5MiB\nsegment S 20MiB", 40), None);
    }
}
