//! Builds the diagnosis of a snapshot: the run of each device, findings, and growth over steps.

use super::frame::{Frame, frames};
use super::headline::headline;
use crate::analysis::{
    self, BudgetSource, ClassTotal, Confidence, FindingCode, FindingsConfig, GrowthClass, Kept, RunKind, SourceLine,
    Study, findings_of, recorded_capacity, until_full,
};
use crate::base::Severity;
use crate::trace::Trace;
use serde::{Deserialize, Serialize};

/// Device of findings about host memory.
pub const HOST: i64 = -1;

/// Device of findings from texts that do not name one.
pub const NO_DEVICE: i64 = -2;

/// Diagnosis of a whole snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Diagnosis {
    /// Runs of the devices with memory in use, in the order of the devices.
    pub runs: Vec<RunOfDevice>,
    /// Findings of all devices, the most important first.
    pub findings: Vec<Finding>,
    /// Memory that remains after steps or calls of a model, for each device that has them.
    pub growth: Vec<Growth>,
}

/// Activity of one device while it was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunOfDevice {
    /// CUDA index.
    pub device: i64,
    pub kind: RunKind,
    /// Number of training steps; 0 if fewer than two were found.
    pub steps: u64,
    /// Bytes of the card that PyTorch could have used, if an out-of-memory error shows them.
    pub recorded_capacity_bytes: Option<u64>,
    /// One sentence: what ran, on what, and what went wrong or how much room is left.
    #[serde(default)]
    pub headline: String,
    /// True if the sentence states a problem.
    #[serde(default)]
    pub has_problem: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Finding {
    pub code: FindingCode,
    pub severity: Severity,
    pub confidence: Confidence,
    /// CUDA index; of a log also -1 for the host, and -2 if the log does not name the device.
    pub device: i64,
    /// Bytes that the finding is about; for growth, those of one step.
    pub bytes: u64,
    /// Problem in one sentence without its full stop.
    pub title: String,
    /// Line of the user's own code, if known.
    pub line: Option<SourceLine>,
    pub evidence: Evidence,
    /// Remedy.
    pub advice: String,
}

/// Evidence for a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Evidence {
    /// Reasoning that led to the finding, in one sentence.
    pub shows: String,
    /// Indices of events to look at.
    pub events: Vec<u32>,
    /// Stacks to look at, each with its innermost frame first.
    pub stacks: Vec<Vec<Frame>>,
}

/// Memory that the steps of one device leave behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Growth {
    /// CUDA index.
    pub device: i64,
    /// Number of steps, or of calls of a model, that were compared.
    pub steps: u64,
    /// Sum over all leaks of the bytes that one step adds.
    pub bytes_per_step: u64,
    /// Time until the card is full; `None` without a leak or steps, or if the memory that PyTorch can use is unknown or
    /// exceeded.
    pub until_full: Option<UntilFull>,
    /// Sums of the classes that occur.
    pub classes: Vec<ClassTotal>,
    /// Stacks with a class, the largest leaks first, then the most bytes; empty unless requested.
    pub groups: Vec<GrowthGroup>,
}

/// Time until leaks have used up the memory that PyTorch can use, if nothing else changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// Memory of one stack at the ends of steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GrowthGroup {
    pub class: GrowthClass,
    /// Bytes that one step adds; 0 unless the stack leaks.
    pub bytes_per_step: u64,
    /// Bytes at the end of the last step.
    pub end_bytes: u64,
    /// Number of allocations at the end of the last step.
    pub end_count: u64,
    /// First step, counted from 0, in which the bytes rose.
    pub first_rise: u32,
    /// Last step in which the bytes rose, counted from 0.
    pub last_rise: u32,
    /// Size of each allocation, if allocations are grouped by size because stacks are missing.
    pub size_bytes: Option<u64>,
    /// Innermost frame first.
    pub stack: Vec<Frame>,
}

impl Finding {
    /// Returns a finding that states what a log has, with certainty, and that is no problem in itself.
    pub(super) fn stated(
        code: FindingCode,
        device: i64,
        bytes: u64,
        title: String,
        shows: String,
        advice: String,
    ) -> Self {
        Self {
            code,
            severity: Severity::Info,
            confidence: Confidence::High,
            device,
            bytes,
            title,
            line: None,
            evidence: Evidence { shows, ..Evidence::default() },
            advice,
        }
    }
}

impl Diagnosis {
    /// Returns the growth of a device; `None` if nothing was compared.
    pub fn growth_of(&self, device: i64) -> Option<&Growth> {
        self.growth.iter().find(|growth| growth.device == device)
    }
}

/// Settings of a diagnosis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiagnosisConfig {
    pub findings: FindingsConfig,
    /// Fills [`Growth::groups`].
    pub with_groups: bool,
}

/// Diagnoses the studied devices of a trace.
pub fn diagnosis(trace: &Trace, studies: &[Study<'_>], config: &DiagnosisConfig) -> Diagnosis {
    let found = findings_of(trace, studies, &config.findings);
    let with_steps = studies.iter().filter(|study| study.steps.is_some() || study.growth.steps > 0);
    let findings: Vec<Finding> = found.into_iter().map(|found| finding(trace, found)).collect();
    let runs = studies.iter().map(|study| run_of(trace, study, &findings, config.findings.capacity_bytes));
    Diagnosis { runs: runs.collect(), findings, growth: with_steps.map(|study| growth(trace, study, config)).collect() }
}

fn run_of(trace: &Trace, study: &Study<'_>, findings: &[Finding], capacity_bytes: Option<u64>) -> RunOfDevice {
    let (headline, has_problem) = headline(trace, study, findings, capacity_bytes);
    RunOfDevice {
        device: study.device.index,
        kind: study.kind,
        steps: study.steps.as_ref().map_or(0, |steps| steps.steps.len() as u64),
        recorded_capacity_bytes: recorded_capacity(study.device, study.timeline),
        headline,
        has_problem,
    }
}

fn finding(trace: &Trace, found: analysis::Finding) -> Finding {
    let analysis::Finding { code, severity, confidence, rank: _, device, bytes, title, line, evidence, advice } = found;
    let analysis::Evidence { shows, events, stacks } = evidence;
    let stacks = stacks.iter().map(|&stack| frames(trace, stack)).collect();
    let evidence = Evidence { shows, events, stacks };
    Finding { code, severity, confidence, device, bytes, title, line, evidence, advice }
}

fn growth(trace: &Trace, study: &Study<'_>, config: &DiagnosisConfig) -> Growth {
    let groups = study.growth.kept.iter().filter(|_| config.with_groups);
    Growth {
        device: study.device.index,
        steps: study.growth.steps as u64,
        bytes_per_step: study.growth.bytes_per_step(),
        until_full: until_full(study, config.findings.capacity_bytes).map(when_full),
        classes: study.growth.by_class(),
        groups: groups.filter_map(|kept| group(trace, kept)).collect(),
    }
}

fn when_full(full: analysis::UntilFull) -> UntilFull {
    let analysis::UntilFull { budget, bytes_per_step: _, steps, events, time_us } = full;
    UntilFull { budget_bytes: budget.bytes, source: budget.source, steps, events, time_us }
}

/// Returns `None` for allocations without a class, which belong to the model or follow no rule.
fn group(trace: &Trace, kept: &Kept) -> Option<GrowthGroup> {
    Some(GrowthGroup {
        class: kept.class?,
        bytes_per_step: kept.bytes_per_step,
        end_bytes: kept.end_bytes,
        end_count: kept.end_count,
        first_rise: kept.first_rise,
        last_rise: kept.last_rise,
        size_bytes: kept.size_bytes,
        stack: frames(trace, kept.stack),
    })
}
