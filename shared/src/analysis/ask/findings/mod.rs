//! Draws findings in words from a trace, the most important first.
//!
//! Each kind of finding has a file; a finding says what was found, what shows it and what to do, and claims no more
//! than the trace shows.

mod abandoned;
mod cache;
mod code;
mod collecting;
mod devices;
mod evaluating;
mod growing;
mod limits;
mod loading;
mod logits;
mod memory_out;
mod outside;
mod own_code;
mod passes;
mod peak;
mod precision;
mod recorded;
mod settled;
mod staying;
mod tiny;
mod tried;
mod waste;

use crate::analysis::study::growth::Kept;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::Origin;
use crate::analysis::track::stack_title::place;
use crate::analysis::track::timeline::Timeline;
use crate::base::Severity;
use crate::trace::{Device, StackId, Trace};
use std::cmp::Reverse;

pub use code::FindingCode;

/// Certainty of a finding's cause; its importance is the severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Other causes would look the same.
    #[default]
    Low,
    /// The shape of the trace indicates the cause, but frames that would confirm it are missing.
    Medium,
    /// Events and frames prove the cause.
    High,
}

crate::names!(Confidence {
    Low => "low",
    Medium => "medium",
    High => "high",
});

/// Evidence for a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// How the finding was reached, in a sentence.
    pub shows: String,
    /// Indices of events to look at.
    pub events: Vec<u32>,
    /// Stacks to look at, most bytes first; for a failed request its own stack comes first.
    pub stacks: Vec<StackId>,
}

/// Order of findings of one severity: causes come before their consequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// Makes the next attempt run out of memory too.
    Retry,
    /// Memory ran out, or a limit was exceeded.
    Limit,
    /// Memory grows.
    Growth,
    /// Memory is used unnecessarily.
    Cause,
    /// The recording is too short or incomplete to judge.
    Recording,
    /// Composition of a peak.
    Peak,
    /// Reserved memory, which is a consequence of the rest.
    Reserved,
    /// Normal behaviour.
    Normal,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourceLine {
    /// File name as in the stack.
    pub file: String,
    pub function: String,
    /// Line number from 1; 0 if unknown.
    pub line: u64,
}

impl SourceLine {
    /// Formats the line like `train (train.py:88)`.
    pub fn place(&self) -> String {
        place(&self.function, &self.file, self.line)
    }
}

/// A diagnosis with its evidence and advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub code: FindingCode,
    pub severity: Severity,
    /// Certainty of the cause.
    pub confidence: Confidence,
    /// Order among findings of the same severity.
    pub rank: Rank,
    /// Device index.
    pub device: i64,
    /// Bytes that the finding is about; bytes per step if they grow.
    pub bytes: u64,
    /// What was found, as a sentence without a full stop.
    pub title: String,
    /// Line of the user's own code that the finding is about, if known.
    pub line: Option<SourceLine>,
    pub evidence: Evidence,
    /// What to do about it.
    pub advice: String,
}

/// Limits that findings are measured against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindingsConfig {
    /// Memory of the card, if the user knows it.
    pub capacity_bytes: Option<u64>,
    /// A peak of live bytes above this is an error.
    pub max_peak_bytes: Option<u64>,
    /// Growth per step above this is an error.
    pub max_growth_bytes: Option<u64>,
}

/// Draws all findings about the devices of a trace, given with their timelines.
///
/// Errors come first, then warnings; within one severity causes come before their consequences, then more bytes first.
pub fn findings(trace: &Trace, devices: &[(&Device, &Timeline)], config: &FindingsConfig) -> Vec<Finding> {
    findings_of(trace, &studies(trace, devices), config)
}

/// Studies the devices whose memory was in use.
pub fn studies<'a>(trace: &'a Trace, devices: &[(&'a Device, &'a Timeline)]) -> Vec<Study<'a>> {
    let is_used = |timeline: &Timeline| timeline.reserved_peak().1 > 0 || timeline.live_peak().1 > 0;
    let used = devices.iter().filter(|(_, timeline)| is_used(timeline));
    used.map(|(device, timeline)| Study::new(trace, device, timeline)).collect()
}

/// Same as [`findings`] for devices that were already studied.
pub fn findings_of(trace: &Trace, studies: &[Study<'_>], config: &FindingsConfig) -> Vec<Finding> {
    if studies.is_empty() {
        return vec![recorded::of_nothing(trace)];
    }
    let mut found: Vec<Finding> = studies.iter().flat_map(|study| of_device(study, config)).collect();
    found.extend(devices::findings(studies));
    found.sort_by_key(|finding| (Reverse(finding.severity), finding.rank, Reverse(finding.bytes), finding.device));
    found
}

fn of_device(study: &Study<'_>, config: &FindingsConfig) -> Vec<Finding> {
    let mut found = memory_out::findings(study);
    found.extend(abandoned::finding(study));
    found.extend(config.capacity_bytes.and_then(|capacity| outside::finding(study, capacity)));
    found.extend(growing::findings(study, config));
    found.extend(collecting::findings(study));
    found.extend(settled::finding(study));
    found.extend(limits::findings(study, config));
    found.extend(staying::findings(study));
    found.extend(evaluating::finding(study));
    found.extend(loading::findings(study));
    found.extend(logits::finding(study));
    found.extend(recorded::finding(study));
    found.extend(precision::finding(study));
    found.extend(cache::finding(study));
    found.extend(tiny::finding(study));
    found.extend(waste::finding(study));
    found.extend(peak::finding(study));
    found
}

/// Events or stacks listed with a finding, as many as a reader looks at.
const MOST_SHOWN: usize = 5;

/// Returns the events that allocated the latest allocation of each row.
fn events_of(study: &Study<'_>, rows: &[&Kept]) -> Vec<u32> {
    let event = |kept: &&Kept| match study.timeline.allocations.origin(kept.latest?) {
        Origin::Event(event) => Some(event as u32),
        _ => None,
    };
    rows.iter().filter_map(event).take(MOST_SHOWN).collect()
}

/// Returns the stacks with the most bytes.
fn top_stacks(rows: impl Iterator<Item = (u64, StackId)>) -> Vec<StackId> {
    let mut rows: Vec<_> = rows.filter(|(_, stack)| stack.has_frames()).collect();
    rows.sort_unstable_by_key(|&(bytes, stack)| (Reverse(bytes), stack));
    rows.dedup_by_key(|row| row.1);
    rows.truncate(MOST_SHOWN);
    rows.into_iter().map(|(_, stack)| stack).collect()
}

#[cfg(test)]
mod tests;
