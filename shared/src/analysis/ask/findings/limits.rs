//! Checks the limits that the user set and the memory of the card.

use super::advice::Advice;
use super::code::FindingCode;
use super::finding::{AtPeak, Confidence, Evidence, Finding, Rank, top_stacks};
use super::tried;
use crate::analysis::study::studied::Study;
use crate::analysis::track::peak::live_by_stack;
use crate::base::{Severity, format};

/// Reserved bytes from which a card counts as nearly full, in percent of its capacity.
const NEARLY_FULL_PERCENT: u64 = 95;

/// Reports exceeded limits, and a card that is too small or nearly full.
pub(super) fn findings(study: &Study<'_>, config: &FindingsConfig) -> Vec<Finding> {
    let peak = config.max_peak_bytes.and_then(|limit| above_peak(study, limit));
    let reserved = config.max_reserved_bytes.and_then(|limit| above_reserved(study, limit));
    let growth = config.max_growth_bytes.and_then(|limit| above_growth(study, limit));
    let capacity = config.capacity_bytes.and_then(|capacity| nearly_full(study, capacity));
    [peak, reserved, growth, capacity].into_iter().flatten().collect()
}

fn above_peak(study: &Study<'_>, limit: u64) -> Option<Finding> {
    let (moment, bytes) = study.timeline.live_peak();
    (bytes > limit).then(|| {
        at_moment(
            study,
            moment,
            (FindingCode::PeakAboveLimit, Severity::Error, bytes),
            format!("The peak of {} exceeds the limit of {}", format::bytes(bytes), format::bytes(limit)),
            "[show] Look at the live allocations at the peak.\n\
             To find what is new, compare with an older snapshot: `snapscope diff`.",
        )
    })
}

fn above_reserved(study: &Study<'_>, limit: u64) -> Option<Finding> {
    let (moment, bytes) = study.timeline.reserved_peak();
    (bytes > limit).then(|| {
        at_moment(
            study,
            moment,
            (FindingCode::ReservedAboveLimit, Severity::Error, bytes),
            format!("PyTorch reserves {}, more than the limit of {}", format::bytes(bytes), format::bytes(limit)),
            &tried::less_reserved(study)
                .into_iter()
                .chain(["[show] Look at the segments at this moment.".to_owned()])
                .collect::<Vec<_>>()
                .join("\n"),
        )
    })
}

fn above_growth(study: &Study<'_>, limit: u64) -> Option<Finding> {
    let bytes = study.growth.bytes_per_step();
    (bytes > limit).then(|| Finding {
        code: FindingCode::GrowthAboveLimit,
        severity: Severity::Error,
        confidence: Confidence::High,
        rank: Rank::Limit,
        device: study.device.index,
        bytes,
        at_peak: AtPeak::default(),
        title: format!(
            "Memory grows by {} per step, more than the limit of {}",
            format::bytes(bytes),
            format::bytes(limit)
        ),
        line: None,
        evidence: Evidence {
            shows: format!(
                "Live memory at the ends of {} was compared.",
                format::counted(study.growth.steps as u64, "step")
            ),
            events: Vec::new(),
            stacks: top_stacks(study.growth.growing().map(|kept| (kept.bytes_per_step, kept.stack))),
        },
        advice: Advice::of("See the findings about memory growth."),
    })
}

fn nearly_full(study: &Study<'_>, capacity: u64) -> Option<Finding> {
    let (moment, reserved) = study.timeline.reserved_peak();
    let (live_moment, live) = study.timeline.live_peak();
    let card = format::bytes(capacity);
    let tried = || tried::less_reserved(study).into_iter();
    if live > capacity {
        return Some(at_moment(
            study,
            live_moment,
            (FindingCode::CardTooSmall, Severity::Warning, live),
            format!("The peak of {} fits on no GPU with {card}, whatever the settings", format::bytes(live)),
            "[show] Look at the live allocations at the peak.\n\
             [try] Try smaller batches and other GPUs in the What if tab of the page, or by `snapscope replay --sweep`.",
        ));
    }
    if reserved > capacity {
        let why = "PyTorch would first return cached segments to CUDA, which may be enough.";
        return Some(at_moment(
            study,
            moment,
            (FindingCode::CardTooSmall, Severity::Warning, reserved),
            format!("PyTorch reserves {}, more than a GPU with {card} has", format::bytes(reserved)),
            &tried().chain([format!("\n{why}")]).collect::<Vec<_>>().join("\n"),
        ));
    }
    (reserved >= capacity / 100 * NEARLY_FULL_PERCENT).then(|| {
        let why = "\nThe CUDA context and libraries need several hundred MiB in addition, and a longer batch may fail.";
        at_moment(
            study,
            moment,
            (FindingCode::CardNearlyFull, Severity::Warning, reserved),
            format!("PyTorch reserves {} of the GPU's {card}, which leaves little room", format::bytes(reserved)),
            &tried()
                .chain(["Leave room: use a smaller micro-batch or a shorter sequence.".to_owned(), why.to_owned()])
                .collect::<Vec<_>>()
                .join("\n"),
        )
    })
}

fn at_moment(
    study: &Study<'_>,
    moment: u32,
    (code, severity, bytes): (FindingCode, Severity, u64),
    title: String,
    advice: &str,
) -> Finding {
    let groups = live_by_stack(study.device, &study.timeline.allocations, moment);
    Finding {
        code,
        severity,
        confidence: Confidence::High,
        rank: Rank::Limit,
        device: study.device.index,
        bytes,
        at_peak: AtPeak::default(),
        title,
        line: None,
        evidence: Evidence {
            shows: groups.first().map_or_else(String::new, |group| {
                format!(
                    "The largest part of the live memory at this moment, {}, is from {}.",
                    format::bytes(group.bytes),
                    study.title(group.stack)
                )
            }),
            events: moment.checked_sub(1).into_iter().collect(),
            stacks: top_stacks(groups.iter().map(|group| (group.bytes, group.stack))),
        },
        advice: Advice::of(advice),
    }
}

/// Limits that findings are measured against.
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
