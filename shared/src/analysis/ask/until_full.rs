//! Determines how much of a card PyTorch can use and when growth will have used it up.
//!
//! ```text
//! │ reserved by PyTorch │ free │ outside: context, NCCL, other processes │
//! ├────── budget ──────────────┤                                         │
//! ├──────────────────────── capacity ─────────────────────────────────────┤
//! ```
//!
//! A snapshot does not name the card. The free bytes in its `oom` events determine the budget; the user knows the
//! capacity.

use crate::analysis::ask::replay::recorded_capacity;
use crate::analysis::study::studied::Study;
use crate::analysis::track::timeline::Axis;
use crate::trace::Action;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetSource {
    /// The capacity that the user gave, as if PyTorch had all of it.
    Given,
    /// The capacity that the user gave, less the bytes outside PyTorch when memory ran out.
    GivenLessOutside,
    /// The reserved and free bytes when memory ran out.
    OutOfMemory,
}

crate::names!(BudgetSource {
    Given => "capacity",
    GivenLessOutside => "capacity-less-outside",
    OutOfMemory => "out-of-memory",
});

/// Bytes of a card that PyTorch can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    pub bytes: u64,
    pub source: BudgetSource,
}

impl Budget {
    /// Returns the budget on a card of `capacity_bytes`, or the one that the trace shows; `None` if neither is known.
    pub fn of(study: &Study<'_>, capacity_bytes: Option<u64>) -> Option<Self> {
        let recorded = recorded_capacity(study.device, study.timeline);
        let (bytes, source) = match (capacity_bytes, recorded) {
            (Some(capacity), Some(recorded)) if recorded == capacity => (recorded, BudgetSource::OutOfMemory),
            // A card smaller than that of the recording may have other bytes outside PyTorch.
            (Some(capacity), Some(recorded)) if recorded <= capacity => (recorded, BudgetSource::GivenLessOutside),
            (Some(capacity), _) => (capacity, BudgetSource::Given),
            (None, recorded) => (recorded?, BudgetSource::OutOfMemory),
        };
        Some(Self { bytes, source })
    }
}

/// Returns the bytes outside PyTorch's allocator when memory first ran out, and the index of that event.
///
/// These bytes are neither reserved nor free. The result is `None` without an `oom` event, and if the card is smaller
/// than the memory that PyTorch had in the trace.
pub fn outside_bytes(study: &Study<'_>, capacity_bytes: u64) -> Option<(u64, u32)> {
    let event = study.device.events.actions().iter().position(|action| action == Action::Oom)?;
    let free_bytes = study.device.events.addrs().at(event);
    let of_pytorch = study.timeline.reserved_at(event as u32).saturating_add(free_bytes);
    Some((capacity_bytes.checked_sub(of_pytorch)?, event as u32))
}

/// Time until leaks have used up the memory that PyTorch can use, if nothing else changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UntilFull {
    /// Bytes that PyTorch can use.
    pub budget_bytes: u64,
    /// Evidence for the budget.
    pub source: BudgetSource,
    /// Number of further steps that fit.
    pub steps: u64,
    /// Number of events in that many steps.
    pub events: u64,
    /// Duration of that many steps in microseconds; `None` in a trace without times.
    pub time_us: Option<u64>,
}

/// Extrapolates the growth of a trace from its peak; `None` without growth, steps or a budget.
///
/// Reserved bytes are never below live bytes, so the card is full at this point at the latest.
pub fn until_full(study: &Study<'_>, capacity_bytes: Option<u64>) -> Option<UntilFull> {
    let budget = Budget::of(study, capacity_bytes)?;
    let left = budget.bytes.checked_sub(study.timeline.live_peak().1)?;
    let steps = left.checked_div(study.growth.bytes_per_step())?;
    let (first, last) = study.steps.as_ref().and_then(|found| Some((found.steps.first()?, found.steps.last()?)))?;
    let times_steps = |whole: u64| (u128::from(whole) * u128::from(steps) / study.growth.steps.max(1) as u128) as u64;
    let timeline = study.timeline;
    let us = |moment: u32| timeline.x_of_moment(study.device, Axis::Time, moment);
    Some(UntilFull {
        budget_bytes: budget.bytes,
        source: budget.source,
        steps,
        events: times_steps(u64::from(last.end - first.start)),
        time_us: timeline.has_times().then(|| times_steps((us(last.end) - us(first.start)).max(0.0) as u64)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::tests::Sample;

    /// Writes four steps of one millisecond with four events each, of which each keeps 1 MiB; the peak is 5 MiB.
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
        let found = until_full(&Sample::of(&leak(end)).study(), capacity_mib.map(|mib| mib << 20));
        let row = |found: UntilFull| (found.budget_bytes >> 20, found.source, found.steps, found.events);
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
            let found = outside_bytes(&Sample::of(text).study(), capacity_mib << 20);
            found.map(|(bytes, event)| (bytes >> 20, event))
        };
        let text = "alloc a 5MiB\noom 64MiB free=10MiB\nsegment S 20MiB\nblock a 5MiB";
        assert_eq!(of(text, 42), Some((12, 1)));
        assert_eq!((of(text, 30), of(text, 29)), (Some((0, 1)), None));
        assert_eq!(of("alloc a 5MiB\nsegment S 20MiB", 40), None);
    }
}
