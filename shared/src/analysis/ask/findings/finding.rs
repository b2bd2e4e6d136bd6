//! A finding with what it is based on: severity, evidence, and advice.

use super::advice::Advice;
use super::code::FindingCode;
use crate::analysis::study::growth::Kept;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::Origin;
use crate::analysis::track::curve::Changes;
use crate::analysis::track::stack_title::place;
use crate::base::{Severity, ShortSort};
use crate::trace::StackId;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub code: FindingCode,
    pub severity: Severity,
    pub confidence: Confidence,
    pub rank: Rank,
    pub device: i64,
    /// Bytes that the finding is about; bytes per step if they grow.
    pub bytes: u64,
    pub at_peak: AtPeak,
    /// What was found, as a sentence without a full stop, of at most [`LONGEST_TITLE`] characters.
    pub title: String,
    /// Line of the user's own code that the finding is about, if known.
    pub line: Option<SourceLine>,
    pub evidence: Evidence,
    pub advice: Advice,
}

impl Finding {
    pub(super) fn new(
        device: i64,
        code: FindingCode,
        severity: Severity,
        confidence: Confidence,
        rank: Rank,
        bytes: u64,
    ) -> Self {
        let (title, evidence, advice) = Default::default();
        let at_peak = AtPeak::default();
        Self { code, severity, confidence, rank, device, bytes, at_peak, title, line: None, evidence, advice }
    }

    /// Creates a finding that asks for a change.
    pub(super) fn warning(
        study: &Study<'_>,
        code: FindingCode,
        confidence: Confidence,
        rank: Rank,
        bytes: u64,
    ) -> Self {
        Self::new(study.device.index, code, Severity::Warning, confidence, rank, bytes)
    }

    /// Creates a finding that is good to know.
    pub(super) fn note(study: &Study<'_>, code: FindingCode, confidence: Confidence, rank: Rank, bytes: u64) -> Self {
        Self::new(study.device.index, code, Severity::Info, confidence, rank, bytes)
    }

    /// Sets the title, without the details that make it too long.
    pub(super) fn titled(self, what: &str, details: impl IntoIterator<Item = String>) -> Self {
        Self { title: title_of_parts(what, details), ..self }
    }

    /// Sets the title and the line, whose place follows `before` in the title.
    pub(super) fn placed(self, what: &str, before: &str, line: Option<SourceLine>) -> Self {
        let place = line.as_ref().map(|line| format!("{before}{}", line.place()));
        Self { line, ..self.titled(what, place) }
    }

    /// Sets the evidence, with the largest of the stacks.
    pub(super) fn shown(
        self,
        shows: String,
        events: impl IntoIterator<Item = u32>,
        stacks: impl IntoIterator<Item = (u64, StackId)>,
    ) -> Self {
        let events = events.into_iter().collect();
        Self { evidence: Evidence { shows, events, stacks: top_stacks(stacks) }, ..self }
    }

    /// Sets the advice, given in the notation of [`Advice`].
    pub(super) fn advised(self, text: &str) -> Self {
        Self { advice: Advice::of(text), ..self }
    }
}

/// Memory that a cause holds when most memory is live, and what would be left of the peak without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AtPeak {
    /// Bytes at the peak: of growth, those that earlier steps have left; of graphs that no backward uses, all of them; of
    /// an out-of-memory error, all live bytes before it; 0 for all other findings.
    pub bytes: u64,
    /// Highest live bytes at any moment without what growth has kept until then, or without such graphs; 0 for all other
    /// findings.
    pub rest_bytes: u64,
}

impl AtPeak {
    /// Measures memory that is alive in vain, given as lifetimes with their bytes.
    pub(super) fn without(study: &Study<'_>, spans: &[(Range<u32>, u64)]) -> Self {
        let ends = |(span, bytes): &(Range<u32>, u64)| [(span.start, -(*bytes as i64)), (span.end, *bytes as i64)];
        let mut ends: Vec<(u32, i64)> = spans.iter().flat_map(ends).collect();
        ends.sort_unstable();
        let mut ends = ends.into_iter().peekable();
        let allocations = &study.timeline.allocations;
        let mut live = allocations.initial_bytes();
        let mut highest = live;
        allocations.for_each(1..study.timeline.events() + 1, |moment, change| {
            live += change;
            while let Some((_, change)) = ends.next_if(|&(end, _)| end <= moment) {
                live += change;
            }
            highest = highest.max(live);
        });
        let peak = study.timeline.live_peak().0;
        let at_peak = spans.iter().filter(|(span, _)| span.contains(&peak)).map(|(_, bytes)| bytes);
        Self { bytes: at_peak.sum(), rest_bytes: u64::try_from(highest).unwrap_or(0) }
    }

    /// Returns true if the cause holds so much of a peak that it is the reason for its height.
    pub fn fills(self, peak_bytes: u64) -> bool {
        self.rest_bytes > 0 && self.bytes.saturating_mul(FILLING) >= peak_bytes
    }
}

/// What holds at least 1/4 of the peak is the reason for its height.
const FILLING: u64 = 4;

/// Characters of the longest title, so that one line of the page shows it.
pub const LONGEST_TITLE: usize = 80;

/// Joins what was found and details, the most important first, leaving out those that make the title too long.
pub fn title_of_parts(what: &str, details: impl IntoIterator<Item = String>) -> String {
    let length = |text: &str| text.chars().count();
    let mut title = what.to_owned();
    for detail in details {
        if length(&title) + length(&detail) <= LONGEST_TITLE {
            title += &detail;
        }
    }
    title
}

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

crate::names!(Confidence { Low => "low", Medium => "medium", High => "high" });

/// Order of findings of one severity: causes come before their consequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// Makes the next attempt run out of memory too.
    Retry,
    /// Growth that fills a large part of the peak.
    Filling,
    /// Memory ran out, or a limit was exceeded.
    Limit,
    Growth,
    Cause,
    /// The recording is too short or incomplete to judge.
    Recording,
    Peak,
    /// Reserved memory, which is a consequence of the rest.
    Reserved,
    Normal,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// How the finding was reached, in a sentence.
    pub shows: String,
    pub events: Vec<u32>,
    /// Stacks to look at, most bytes first; for a failed request its own stack comes first.
    pub stacks: Vec<StackId>,
}

/// Events or stacks listed with a finding, as many as a reader looks at.
pub(super) const MOST_SHOWN: usize = 5;

/// Returns the events that allocated the latest allocation of each row.
pub(super) fn events_of(study: &Study<'_>, rows: &[&Kept]) -> Vec<u32> {
    let event = |kept: &&Kept| match study.timeline.allocations.origin(kept.latest?) {
        Origin::Event(event) => Some(event as u32),
        _ => None,
    };
    rows.iter().filter_map(event).take(MOST_SHOWN).collect()
}

pub(super) fn top_stacks(rows: impl IntoIterator<Item = (u64, StackId)>) -> Vec<StackId> {
    let mut rows: Vec<_> = rows.into_iter().filter(|(_, stack)| stack.has_frames()).collect();
    rows.short_sort_by_key(|&(bytes, stack)| (Reverse(bytes), stack));
    rows.dedup_by_key(|row| row.1);
    rows.truncate(MOST_SHOWN);
    rows.into_iter().map(|(_, stack)| stack).collect()
}
