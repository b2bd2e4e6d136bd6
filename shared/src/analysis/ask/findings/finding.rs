//! Defines what a finding says, and how certain and how important it is.

use super::advice::Advice;
use super::code::FindingCode;
use super::evidence::Evidence;
use crate::analysis::track::stack_title::place;
use crate::base::Severity;

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
    /// What was found, as a sentence without a full stop, of at most [`LONGEST_TITLE`] characters.
    pub title: String,
    /// Line of the user's own code that the finding is about, if known.
    pub line: Option<SourceLine>,
    pub evidence: Evidence,
    pub advice: Advice,
}

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

crate::names!(Confidence {
    Low => "low",
    Medium => "medium",
    High => "high",
});

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
