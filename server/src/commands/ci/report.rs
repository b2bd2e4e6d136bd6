//! Compares both sides and decides by the limits.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;
use shared::analysis::{FindingsConfig, source_files, studies};
use shared::api::{RunReport, RunStatus};
use shared::base::Severity;
use shared::report::{Comparison, DiagnosisConfig, Finding, diagnosis};

use super::options::{CiRunArgs, MostGrowth};
use super::side::Side;
use crate::Failure;
use crate::commands::diff::{At, compare};
use crate::snapshot_file::Opened;

/// Most findings of the head that are listed.
const MOST_FINDINGS: usize = 5;

/// The document of `snapscope ci run --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct CiReport {
    pub(super) status: CiStatus,
    pub(super) base: CiSide,
    pub(super) head: CiSide,
    /// Peaks of live and of reserved memory; empty if a side has no snapshot.
    pub(super) peaks: Vec<PeakChange>,
    /// Difference of the live memory at both peaks, by stack, category and module.
    pub(super) comparison: Option<Comparison>,
    /// Warnings and errors of the head that the base does not have.
    pub(super) new_findings: Vec<Finding>,
    /// What limits the comparison, in sentences.
    pub(super) notes: Vec<String>,
}

/// Result of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CiStatus {
    WithinLimits,
    AboveLimit,
    OutOfMemory,
    /// A script failed for a reason of its own.
    Failed,
    /// A script needs what is not modeled.
    Unsupported,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct CiSide {
    /// Word for it in texts.
    pub(super) name: String,
    /// The process that needs the most memory.
    pub(super) run: RunReport,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct PeakChange {
    /// `live` or `reserved`.
    pub(super) of: &'static str,
    pub(super) base_bytes: u64,
    pub(super) head_bytes: u64,
    /// Head minus base.
    pub(super) delta_bytes: i64,
    pub(super) limit: Option<String>,
    /// Growth that the limit allows.
    pub(super) limit_bytes: Option<u64>,
    pub(super) is_above_limit: bool,
}

impl CiStatus {
    pub(super) const fn exit_status(self) -> u8 {
        match self {
            Self::WithinLimits => 0,
            Self::AboveLimit | Self::OutOfMemory => 1,
            Self::Unsupported => 2,
            Self::Failed => 3,
        }
    }
}

impl CiReport {
    /// Compares the sides; `top` is the user's checkout if the base ran in another one.
    pub(super) fn of(args: &CiRunArgs, base: Side, head: Side, top: Option<&Path>) -> Result<Self, Failure> {
        let mut report = Self {
            status: CiStatus::WithinLimits,
            base: CiSide { name: base.name.clone(), run: base.run.clone() },
            head: CiSide { name: head.name.clone(), run: head.run.clone() },
            peaks: Vec::new(),
            comparison: None,
            new_findings: Vec::new(),
            notes: notes(&base, &head, top),
        };
        if let (Some(a), Some(b)) = (&base.opened, &head.opened) {
            report.peaks = peaks(args, &base.run, &head.run);
            let top = args.top;
            report.comparison = Some(compare((a, At::default()), (b, At::default()), top, &args.own.rule())?);
            report.new_findings = new_findings(a, b, head.run.capacity_bytes);
        }
        report.status = status(&base, &head, &report.peaks);
        Ok(report)
    }
}

fn status(base: &Side, head: &Side, peaks: &[PeakChange]) -> CiStatus {
    let either = |status: RunStatus| base.status == status || head.status == status;
    if either(RunStatus::Failed) {
        return CiStatus::Failed;
    }
    if either(RunStatus::Unsupported) {
        return CiStatus::Unsupported;
    }
    if head.status == RunStatus::OutOfMemory {
        return CiStatus::OutOfMemory;
    }
    let is_above = peaks.iter().any(|peak| peak.is_above_limit);
    if is_above { CiStatus::AboveLimit } else { CiStatus::WithinLimits }
}

fn peaks(args: &CiRunArgs, base: &RunReport, head: &RunReport) -> Vec<PeakChange> {
    let change = |of, base_bytes: u64, head_bytes: u64, limit: Option<MostGrowth>| {
        let delta_bytes = head_bytes as i64 - base_bytes as i64;
        let limit_bytes = limit.map(|limit| limit.of(base_bytes));
        let is_above_limit = limit_bytes.is_some_and(|most| i128::from(delta_bytes) > i128::from(most));
        let limit = limit.map(|limit| limit.to_string());
        PeakChange { of, base_bytes, head_bytes, delta_bytes, limit, limit_bytes, is_above_limit }
    };
    vec![
        change("live", base.peak_live_bytes, head.peak_live_bytes, args.max_growth),
        change("reserved", base.peak_reserved_bytes, head.peak_reserved_bytes, args.max_reserved_growth),
    ]
}

/// Returns the problems of the head that the base does not have at the same function.
fn new_findings(base: &Opened, head: &Opened, capacity_bytes: u64) -> Vec<Finding> {
    let known: HashSet<_> = problems(base, capacity_bytes).iter().map(identity).collect();
    let mut found = problems(head, capacity_bytes);
    found.retain(|finding| !known.contains(&identity(finding)));
    found.truncate(MOST_FINDINGS);
    found
}

fn problems(opened: &Opened, capacity_bytes: u64) -> Vec<Finding> {
    let devices: Vec<_> = opened.devices().collect();
    let findings = FindingsConfig { capacity_bytes: Some(capacity_bytes), ..FindingsConfig::default() };
    let config = DiagnosisConfig { findings, with_groups: false };
    let mut found = diagnosis(&opened.trace, &studies(&opened.trace, &devices), &config).findings;
    found.retain(|finding| finding.severity > Severity::Info);
    found
}

/// Returns what two findings have in common if they are about the same.
fn identity(finding: &Finding) -> (&'static str, Option<String>) {
    (finding.code.name(), finding.line.as_ref().map(|line| line.function.clone()))
}

/// Says what limits the comparison.
fn notes(base: &Side, head: &Side, top: Option<&Path>) -> Vec<String> {
    let mut notes = Vec::new();
    for side in [base, head] {
        notes.extend(side.run.message.as_ref().map(|message| format!("{}: {message}", side.name)));
        if side.processes > 1 {
            notes.push(format!("{}: of {} processes, the one that needs most is compared", side.name, side.processes));
        }
    }
    if base.run.torch != head.run.torch {
        let torch = |side: &Side| side.run.torch.clone().unwrap_or_else(|| "none".to_owned());
        notes.push(format!("PyTorch differs: {} in the base, {} in the head", torch(base), torch(head)));
    }
    // A source file of the base that lies in the head's folder and is no installed package.
    let foreign = top.zip(base.opened.as_ref()).and_then(|(top, opened)| {
        let is_own = |file: &&str| Path::new(file).starts_with(top) && !file.contains("/site-packages/");
        source_files(&opened.trace).into_iter().find(is_own)
    });
    if let Some(file) = foreign {
        notes.push(format!(
            "the base used {file}, a file of the head, as an editable install leads to it: install the package without \
             `-e`, or add its folder to PYTHONPATH"
        ));
    }
    notes
}
