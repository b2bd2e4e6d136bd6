//! What a trace says in words, the most important first.
//!
//! Each kind of finding has a file; a finding says what is there, what shows it and what to do, and never more than
//! the trace shows.

mod abandoned;
mod cache;
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
mod tried;
mod waste;

use super::{Kept, Origin, Study, Timeline, place};
use crate::base::Severity;
use crate::trace::{Device, StackId, Trace};
use std::cmp::Reverse;

/// How sure a finding is of its cause; how much it matters is its severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Other causes would look the same.
    #[default]
    Low,
    /// The shape of the trace tells it, but frames that would confirm it are missing.
    Medium,
    /// Events and frames tell it.
    High,
}

crate::names!(Confidence {
    Low => "low",
    Medium => "medium",
    High => "high",
});

/// What shows a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// How it was reached, in a sentence.
    pub shows: String,
    /// Events to look at, by index.
    pub events: Vec<u32>,
    /// Stacks to look at, the one with the most bytes first.
    pub stacks: Vec<StackId>,
}

/// Findings of one severity come in this order: causes before what follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// What makes the next try run out of memory too.
    Retry,
    /// Memory ran out, or a limit was passed.
    Limit,
    /// Something grows.
    Growth,
    /// Something is there that need not be.
    Cause,
    /// Too little was recorded to judge.
    Recording,
    /// What a peak is made of.
    Peak,
    /// Reserved memory, which follows from the rest.
    Reserved,
    /// What is normal.
    Normal,
}

/// A line of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct SourceLine {
    /// The file as the stack names it.
    pub file: String,
    /// The function.
    pub function: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u64,
}

impl SourceLine {
    /// Such as `train (train.py:88)`.
    pub fn place(&self) -> String {
        place(&self.function, &self.file, self.line)
    }
}

/// One diagnosis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A stable name in kebab-case, such as `graphs-kept`.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// How sure the cause is.
    pub confidence: Confidence,
    /// What comes first of the same severity.
    pub rank: Rank,
    /// The device index.
    pub device: i64,
    /// The bytes that it is about: a step's for what grows.
    pub bytes: u64,
    /// What is there, in a sentence without a full stop.
    pub title: String,
    /// The line of the user's own code that it is about, where one is known.
    pub line: Option<SourceLine>,
    /// What shows it.
    pub evidence: Evidence,
    /// What to do.
    pub advice: String,
}

/// What findings are measured against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindingsConfig {
    /// The memory of the card, where the user knows it.
    pub capacity_bytes: Option<u64>,
    /// A peak of live bytes above this is an error.
    pub max_peak_bytes: Option<u64>,
    /// Growth by more than this in a step is an error.
    pub max_growth_bytes: Option<u64>,
}

/// Everything there is to say about the devices of a trace; `devices` are they with their timelines.
///
/// Errors come first, then warnings; of the same severity causes before what follows from them, then more bytes.
pub fn findings(trace: &Trace, devices: &[(&Device, &Timeline)], config: &FindingsConfig) -> Vec<Finding> {
    findings_of(trace, &studies(trace, devices), config)
}

/// The devices whose memory was in use, studied; findings are drawn from them.
pub fn studies<'a>(trace: &'a Trace, devices: &[(&'a Device, &'a Timeline)]) -> Vec<Study<'a>> {
    let is_used = |timeline: &Timeline| timeline.reserved_peak().1 > 0 || timeline.live_peak().1 > 0;
    let used = devices.iter().filter(|(_, timeline)| is_used(timeline));
    used.map(|(device, timeline)| Study::new(trace, device, timeline)).collect()
}

/// The same for devices that were studied already.
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
    found.extend(waste::finding(study));
    found.extend(peak::finding(study));
    found
}

/// As many events or stacks of a finding as a reader looks at.
const MOST_SHOWN: usize = 5;

/// The events that allocated the latest of each row.
fn events_of(study: &Study<'_>, rows: &[&Kept]) -> Vec<u32> {
    let event = |kept: &&Kept| match study.timeline.allocations.origin(kept.latest?) {
        Origin::Event(event) => Some(event as u32),
        _ => None,
    };
    rows.iter().filter_map(event).take(MOST_SHOWN).collect()
}

/// The stacks of rows with bytes, those with the most first.
fn top_stacks(rows: impl Iterator<Item = (u64, StackId)>) -> Vec<StackId> {
    let mut rows: Vec<_> = rows.filter(|(_, stack)| stack.has_frames()).collect();
    rows.sort_unstable_by_key(|&(bytes, stack)| (Reverse(bytes), stack));
    rows.dedup_by_key(|row| row.1);
    rows.truncate(MOST_SHOWN);
    rows.into_iter().map(|(_, stack)| stack).collect()
}

#[cfg(test)]
mod tests;
