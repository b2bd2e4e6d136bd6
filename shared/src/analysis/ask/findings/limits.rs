//! Checks the limits that the user set and the memory of the card.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use super::tried;
use crate::analysis::study::studied::Study;
use crate::analysis::track::peak::live_by_stack;
use crate::base::{Severity, format};

/// Reserved bytes from which a card counts as nearly full, in percent of its capacity.
const NEARLY_FULL_PERCENT: u64 = 95;

pub(super) fn findings(study: &Study<'_>, config: &FindingsConfig) -> Vec<Finding> {
    let peak = config.max_peak_bytes.and_then(|limit| above_peak(study, limit));
    let reserved = config.max_reserved_bytes.and_then(|limit| above_reserved(study, limit));
    let growth = config.max_growth_bytes.and_then(|limit| above_growth(study, limit));
    let capacity = config.capacity_bytes.and_then(|capacity| nearly_full(study, capacity));
    [peak, reserved, growth, capacity].into_iter().flatten().collect()
}

fn above_peak(study: &Study<'_>, limit: u64) -> Option<Finding> {
    let (moment, bytes) = study.timeline.live_peak();
    let what = format!("The peak of {} exceeds the limit of {}", format::bytes(bytes), format::bytes(limit));
    let found = || at_moment(study, moment, (FindingCode::PeakAboveLimit, Severity::Error, bytes), &what);
    (bytes > limit).then(found).map(|found| {
        found.advised(
            "[show] Look at the live allocations at the peak.\n\
             To find what is new, compare with an older snapshot: `snapscope diff`.",
        )
    })
}

fn above_reserved(study: &Study<'_>, limit: u64) -> Option<Finding> {
    let (moment, bytes) = study.timeline.reserved_peak();
    let what = format!("PyTorch reserves {}, more than the limit of {}", format::bytes(bytes), format::bytes(limit));
    let found = || at_moment(study, moment, (FindingCode::ReservedAboveLimit, Severity::Error, bytes), &what);
    (bytes > limit).then(|| found().advised(&with_trial(study, "[show] Look at the segments at this moment.")))
}

fn above_growth(study: &Study<'_>, limit: u64) -> Option<Finding> {
    let (code, bytes) = (FindingCode::GrowthAboveLimit, study.growth.bytes_per_step());
    let (grows, limit_text) = (format::bytes(bytes), format::bytes(limit));
    let compared = format::counted(study.growth.steps as u64, "step");
    let rows = study.growth.growing().map(|kept| (kept.bytes_per_step, kept.stack));
    (bytes > limit).then(|| {
        Finding::new(study.device.index, code, Severity::Error, Confidence::High, Rank::Limit, bytes)
            .titled(&format!("Memory grows by {grows} per step, more than the limit of {limit_text}"), [])
            .shown(format!("Live memory at the ends of {compared} was compared."), [], rows)
            .advised("See the findings about memory growth.")
    })
}

fn nearly_full(study: &Study<'_>, capacity: u64) -> Option<Finding> {
    let (moment, reserved) = study.timeline.reserved_peak();
    let (live_moment, live) = study.timeline.live_peak();
    let (card, reserves) = (format::bytes(capacity), format::bytes(reserved));
    let warning = |moment, code, bytes, what: String| at_moment(study, moment, (code, Severity::Warning, bytes), &what);
    if live > capacity {
        let what = format!("The peak of {} fits on no GPU with {card}, whatever the settings", format::bytes(live));
        return Some(warning(live_moment, FindingCode::CardTooSmall, live, what).advised(
            "[show] Look at the live allocations at the peak.\n\
             [try] Try smaller batches and other GPUs in the What if tab of the page, or by `snapscope replay --sweep`.",
        ));
    }
    if reserved > capacity {
        let what = format!("PyTorch reserves {reserves}, more than a GPU with {card} has");
        let why = "\nPyTorch would first return cached segments to CUDA, which may be enough.";
        return Some(warning(moment, FindingCode::CardTooSmall, reserved, what).advised(&with_trial(study, why)));
    }
    (reserved >= capacity / 100 * NEARLY_FULL_PERCENT).then(|| {
        let what = format!("PyTorch reserves {reserves} of the GPU's {card}, which leaves little room");
        warning(moment, FindingCode::CardNearlyFull, reserved, what).advised(&with_trial(
            study,
            "Leave room: use a smaller micro-batch or a shorter sequence.\n\n\
             The CUDA context and libraries need several hundred MiB in addition, and a longer batch may fail.",
        ))
    })
}

/// Puts settings that reserve less before other advice, if there are any.
fn with_trial(study: &Study<'_>, advice: &str) -> String {
    tried::less_reserved(study).map_or_else(|| advice.to_owned(), |tried| format!("{tried}\n{advice}"))
}

fn at_moment(
    study: &Study<'_>,
    moment: u32,
    (code, severity, bytes): (FindingCode, Severity, u64),
    what: &str,
) -> Finding {
    let groups = live_by_stack(study.device, &study.timeline.allocations, moment);
    let shows = groups.first().map_or_else(String::new, |group| {
        let (bytes, title) = (format::bytes(group.bytes), study.title(group.stack));
        format!("The largest part of the live memory at this moment, {bytes}, is from {title}.")
    });
    let rows = groups.iter().map(|group| (group.bytes, group.stack));
    let found = Finding::new(study.device.index, code, severity, Confidence::High, Rank::Limit, bytes);
    found.titled(what, []).shown(shows, moment.checked_sub(1), rows)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindingsConfig {
    /// Memory of the card, if the user knows it.
    pub capacity_bytes: Option<u64>,
    /// A peak of live bytes above this is an error.
    pub max_peak_bytes: Option<u64>,
    /// Reserved bytes above this are an error.
    pub max_reserved_bytes: Option<u64>,
    /// Growth per step above this is an error.
    pub max_growth_bytes: Option<u64>,
}
