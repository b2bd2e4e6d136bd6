//! The diagnosis of a snapshot: what each device did, what was found, and what stays after steps.

use super::frame::{Frame, frames};
use crate::analysis::{
    self, BudgetSource, ClassTotal, Confidence, FindingsConfig, GrowthClass, Kept, RunKind, SourceLine, Study,
    findings_of, recorded_capacity, until_full,
};
use crate::base::Severity;
use crate::trace::Trace;
use serde::{Deserialize, Serialize};

/// Everything that was found in a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// What each device with memory in use did, in the order of the devices.
    pub runs: Vec<RunOfDevice>,
    /// Findings of all devices, the most important first.
    pub findings: Vec<Finding>,
    /// What stays after the steps of each device that has steps, or else calls of a model.
    pub growth: Vec<Growth>,
}

/// What one device did while it was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOfDevice {
    /// CUDA index.
    pub device: i64,
    pub kind: RunKind,
    /// Number of training steps, or of calls of a model; 0 where there are not two.
    pub steps: u64,
    /// Bytes of the card that PyTorch could have had, where an out-of-memory error tells it.
    pub recorded_capacity_bytes: Option<u64>,
}

/// One finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name in kebab-case, such as `graphs-kept`.
    pub code: String,
    pub severity: Severity,
    pub confidence: Confidence,
    /// CUDA index.
    pub device: i64,
    /// Bytes that the finding is about; for growth, those of one step.
    pub bytes: u64,
    /// What is there, a sentence without its full stop.
    pub title: String,
    /// The line of the user's own code, where one is known.
    pub line: Option<SourceLine>,
    pub evidence: Evidence,
    /// What to do.
    pub advice: String,
}

/// What shows a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// How the finding was reached, in a sentence.
    pub shows: String,
    /// Indices of events to look at.
    pub events: Vec<u32>,
    /// Stacks to look at, each with its innermost frame first.
    pub stacks: Vec<Vec<Frame>>,
}

/// What the steps of one device leave behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    /// CUDA index.
    pub device: i64,
    /// Number of steps, or calls of a model, that were compared.
    pub steps: u64,
    /// Sum over all leaks of the bytes that one step adds.
    pub bytes_per_step: u64,
    /// When the card is full; `None` without a leak, and where nothing tells how much memory PyTorch can have.
    pub until_full: Option<UntilFull>,
    /// Sums of the classes that occur.
    pub classes: Vec<ClassTotal>,
    /// Stacks with a class, the largest leaks first, then the most bytes; empty unless asked for.
    pub groups: Vec<GrowthGroup>,
}

/// When leaks have used up what PyTorch can have, if all else stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntilFull {
    /// Bytes that PyTorch can have.
    pub budget_bytes: u64,
    /// What the budget was concluded from.
    pub source: BudgetSource,
    /// Number of further steps that fit.
    pub steps: u64,
    /// Number of events in that many steps.
    pub events: u64,
    /// Duration of that many steps in microseconds; `None` in a trace without times.
    pub time_us: Option<u64>,
}

/// What the allocations of one stack hold at the ends of steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrowthGroup {
    pub class: GrowthClass,
    /// Bytes that one step adds; 0 unless it leaks.
    pub bytes_per_step: u64,
    /// Bytes at the end of the last step.
    pub end_bytes: u64,
    /// Allocations at the end of the last step.
    pub end_count: u64,
    /// First step, counted from 0, in which the bytes rose.
    pub first_rise: u32,
    /// Last step in which they rose.
    pub last_rise: u32,
    /// Size of each allocation, where they are grouped by it for want of stacks.
    pub size_bytes: Option<u64>,
    /// Innermost frame first.
    pub stack: Vec<Frame>,
}

impl Diagnosis {
    /// Returns what the steps of a device leave behind; `None` where nothing was compared.
    pub fn growth_of(&self, device: i64) -> Option<&Growth> {
        self.growth.iter().find(|growth| growth.device == device)
    }
}

/// What a diagnosis is measured against, and how much of it is wanted.
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
    Diagnosis {
        runs: studies.iter().map(run_of).collect(),
        findings: found.into_iter().map(|found| finding(trace, found)).collect(),
        growth: with_steps.map(|study| growth(trace, study, config)).collect(),
    }
}

fn run_of(study: &Study<'_>) -> RunOfDevice {
    RunOfDevice {
        device: study.device.index,
        kind: study.kind,
        steps: study.steps.as_ref().map_or(0, |steps| steps.steps.len() as u64),
        recorded_capacity_bytes: recorded_capacity(study.device, study.timeline),
    }
}

fn finding(trace: &Trace, found: analysis::Finding) -> Finding {
    let analysis::Finding { code, severity, confidence, rank: _, device, bytes, title, line, evidence, advice } = found;
    let analysis::Evidence { shows, events, stacks } = evidence;
    let stacks = stacks.iter().map(|&stack| frames(trace, stack)).collect();
    let evidence = Evidence { shows, events, stacks };
    Finding { code: code.to_owned(), severity, confidence, device, bytes, title, line, evidence, advice }
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

/// What belongs to the model or follows no rule has no class, and is left out.
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
