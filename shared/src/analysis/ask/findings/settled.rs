//! Explains in one note why memory is higher than before the first step although it does not leak.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank, events_of};
use crate::analysis::study::growth::{Course, GrowthClass, Kept};
use crate::analysis::study::phases::Phase;
use crate::analysis::study::studied::Study;
use crate::base::{ShortSort, format};

/// Less than 1/100 of the peak is not mentioned.
const LEAST_SHARE: u64 = 100;

pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let peak_bytes = study.timeline.live_peak().1;
    let of_batches: Vec<&Kept> = super::collecting::of_batches(study).collect();
    let left = super::left_optimizer::left(study);
    let is_told = |kept: &Kept| {
        is_told_elsewhere(study, kept)
            || of_batches.iter().any(|told| std::ptr::eq(*told, kept))
            || left.iter().any(|(told, _)| std::ptr::eq(*told, kept))
    };
    let mut parts = Vec::new();
    let mut told: Vec<&Kept> = Vec::new();
    for class in GrowthClass::ALL.into_iter().filter(|&class| class != GrowthClass::Leak) {
        let rows: Vec<&Kept> = study.growth.of_class(class).filter(|kept| !is_told(kept)).collect();
        let most_bytes = rows.iter().map(|kept| kept.most_bytes).fold(0, u64::saturating_add);
        if most_bytes > 0 && most_bytes.saturating_mul(LEAST_SHARE) >= peak_bytes {
            parts.push(part(class, &rows, most_bytes));
            told.extend(rows);
        }
    }
    if parts.is_empty() {
        return None;
    }
    told.short_sort_by_key(|kept| std::cmp::Reverse(kept.most_bytes));
    let is_guess = told.iter().any(|kept| matches!(kept.class, Some(GrowthClass::Cache | GrowthClass::OneOff)));
    let confidence = if is_guess { Confidence::Medium } else { Confidence::High };
    let largest = told[0];
    let shows = format!(
        "Live memory at the ends of {} was compared: {}. The largest part, {}, is from {}.",
        format::counted(study.growth.steps as u64, super::growing::unit(study)),
        parts.join("; "),
        format::bytes(largest.most_bytes),
        study.title(largest.stack),
    );
    let bytes = told.iter().map(|kept| kept.end_bytes).fold(0, u64::saturating_add);
    let found = Finding::note(study, FindingCode::Settled, confidence, Rank::Normal, bytes)
        .titled(&format!("Normal: {}", parts[0]), parts.iter().skip(1).map(|part| format!("; {part}")))
        .shown(shows, events_of(study, &told), told.iter().map(|kept| (kept.most_bytes, kept.stack)));
    Some(found.advised("Measure memory after these steps.\n\nThe first steps allocate memory that later steps reuse."))
}

/// Returns true for memory with a finding of its own.
///
/// This is true for gradients that stay from the first step on, and for memory that an epoch collects.
fn is_told_elsewhere(study: &Study<'_>, kept: &Kept) -> bool {
    let is_gradient = study.phases.are_told() && kept.course == Course::Settles && kept.phase == Phase::Backward;
    is_gradient || matches!(kept.course, Course::Collected | Course::Drains)
}

fn part(class: GrowthClass, rows: &[&Kept], most_bytes: u64) -> String {
    let first = rows.iter().map(|kept| kept.first_rise).min().unwrap_or(0) + 1;
    let last = rows.iter().map(|kept| kept.last_rise).max().unwrap_or(0) + 1;
    let steps = if first == last { format!("step {first}") } else { format!("steps {first} to {last}") };
    let bytes = format::bytes(most_bytes);
    match class {
        GrowthClass::OptimizerState => format!("{bytes} of optimizer state is allocated in {steps} and stays"),
        GrowthClass::WarmUp => format!("{bytes} is allocated in {steps} and reused"),
        GrowthClass::Cache if rows[0].course == Course::Bounded => {
            format!("up to {bytes} rises and falls, without a new high lately")
        }
        GrowthClass::Cache => {
            format!("a cache of {bytes} fills in steps {first} to {last}, and then less or not at all")
        }
        GrowthClass::OneOff | GrowthClass::Leak => format!("{bytes} is allocated once, in {steps}"),
    }
}
