//! Builds the diagnosis of a snapshot: the run of each device, findings, and growth over steps.

use super::event::{Frame, frames};
use super::headline::Headline;
use crate::analysis::{
    self, Advice, AdviceStep, AtPeak, Category, ClassTotal, Confidence, FindingCode, FindingsConfig, GrowthClass, Kept,
    LONGEST_TITLE, Label, RunKind, SourceLine, Study, UntilFull, finding_parts, finding_target, findings_of, part_text,
    recorded_capacity, script_of, until_full,
};
use crate::base::Severity;
use crate::job::Card;
use crate::trace::{Accelerator, Trace};
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
    /// First part of the headline, before its colon: what ran, and on what.
    #[serde(default)]
    pub subject: String,
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
    #[serde(default)]
    pub at_peak: AtPeak,
    /// Problem in one sentence without its full stop, of at most 80 characters.
    pub title: String,
    /// Line of the user's own code, if known.
    pub line: Option<SourceLine>,
    /// Up to three parts of the memory that the finding is about, most bytes first.
    pub parts: Vec<FindingPart>,
    /// What of the trace shows the finding; `None` for logs, and if no event shows it.
    pub target: Option<Target>,
    pub evidence: Evidence,
    /// Remedy: the texts of all steps, and then why.
    pub advice: String,
    /// What to do, the most useful step first.
    pub steps: Vec<AdviceStep>,
    /// Reason for the steps; empty if the title says it.
    pub why: String,
}

/// Live allocations of one line of the user's code, or of one stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FindingPart {
    /// Place in the user's own code, or else a description of the stack.
    pub title: String,
    /// Sum of the requested sizes at the target's moment.
    pub bytes: u64,
    /// Number of allocations.
    pub count: u64,
    pub target: Target,
}

/// What of a trace shows a finding, or a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Target {
    /// First moment of the range; the moment after event `i` is `i + 1`.
    pub first: u32,
    /// Last moment of the range; equals `first` if a single moment shows it.
    pub last: u32,
    /// Category that all allocations have.
    pub category: Option<Category>,
    /// Stack that all allocations have, innermost frame first; empty if they have several.
    pub stack: Vec<Frame>,
    /// Line of the user's own code that is in the stacks of all allocations.
    pub line: Option<TargetLine>,
    /// Regular expression that names the modules of all allocations, if they are those of equal layers.
    #[serde(default)]
    pub pattern: Option<String>,
}

/// Line of code, as tables of allocations name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TargetLine {
    pub title: String,
    /// Path of the file and line.
    pub detail: String,
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

impl RunOfDevice {
    /// Returns the second part of the headline, what went wrong or how much room is left, as a sentence of its own.
    pub fn outcome(&self) -> String {
        let outcome = self.headline.strip_prefix(&self.subject).unwrap_or(&self.headline).trim_start_matches(": ");
        let mut letters = outcome.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }
}

impl FindingPart {
    /// Formats the part in one line, such as `785 MiB in 2 allocations: forward (model.py:3)`.
    pub fn text(&self) -> String {
        part_text(&self.title, self.bytes, self.count)
    }
}

impl Finding {
    /// Returns the severity, the device and the title in one line; `word` is the word for a device.
    pub fn headline(&self, word: &str) -> String {
        let Self { severity, device, title, .. } = self;
        let is_named = title.starts_with("GPU ") || title.starts_with("NPU ");
        let place = if *device < 0 || is_named { String::new() } else { format!(" on {word} {device}") };
        format!("{}{place}: {title}", severity.name())
    }

    /// Returns a finding that states what a log has, with certainty, and that is no problem in itself.
    pub fn stated(code: FindingCode, device: i64, bytes: u64, title: String, shows: String, advice: String) -> Self {
        Self {
            code,
            severity: Severity::Info,
            confidence: Confidence::High,
            device,
            bytes,
            at_peak: AtPeak::default(),
            title,
            line: None,
            parts: Vec::new(),
            target: None,
            evidence: Evidence { shows, ..Evidence::default() },
            advice: String::new(),
            steps: Vec::new(),
            why: String::new(),
        }
        .advised(&advice)
        .with_short_title()
    }

    /// Returns the finding with other advice, in the notation of [`Advice`].
    pub fn advised(self, text: &str) -> Self {
        let advice = Advice::of(text);
        Self { advice: advice.text(), steps: advice.steps, why: advice.why, ..self }
    }

    /// Cuts a title that is too long, such as one with a long name, and states it in full before the evidence.
    fn with_short_title(mut self) -> Self {
        if self.title.chars().count() > LONGEST_TITLE {
            let short: String = self.title.chars().take(LONGEST_TITLE - 1).collect();
            let full = std::mem::replace(&mut self.title, short.trim_end().to_owned() + "…");
            self.evidence.shows = format!("{full}. {}", self.evidence.shows).trim_end().to_owned();
        }
        self
    }
}

impl Diagnosis {
    pub fn growth_of(&self, device: i64) -> Option<&Growth> {
        self.growth.iter().find(|growth| growth.device == device)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiagnosisConfig {
    pub findings: FindingsConfig,
    /// Fills [`Growth::groups`].
    pub with_groups: bool,
}

pub fn diagnosis(trace: &Trace, studies: &[Study<'_>], config: &DiagnosisConfig) -> Diagnosis {
    let mut found = findings_of(trace, studies, &config.findings);
    try_remedies(studies, &mut found, config.findings.capacity_bytes);
    let with_steps = studies.iter().filter(|study| study.steps.is_some() || study.growth.steps > 0);
    let findings: Vec<Finding> = found.into_iter().map(|found| finding(trace, studies, found)).collect();
    let runs = studies.iter().map(|study| run_of(trace, study, &findings, config.findings.capacity_bytes));
    Diagnosis { runs: runs.collect(), findings, growth: with_steps.map(|study| growth(trace, study, config)).collect() }
}

/// Adds a last step to the first finding of a training that ran out of memory or nearly so: the command that tries
/// remedies on its script.
fn try_remedies(studies: &[Study<'_>], found: &mut [analysis::Finding], capacity_bytes: Option<u64>) {
    let is_out = |finding: &&mut analysis::Finding| match finding.code {
        FindingCode::OutOfMemory => finding.severity == Severity::Error,
        code => matches!(code, FindingCode::CardNearlyFull | FindingCode::CardTooSmall),
    };
    let step = |device| {
        let study = studies.iter().find(|study| study.device.index == device)?;
        let is_training = matches!(study.kind, RunKind::Training | RunKind::Forward);
        let is_cuda = Accelerator::of(study.trace) == Accelerator::Cuda;
        let capacity = capacity_bytes.or_else(|| recorded_capacity(study.device, study.timeline))?;
        let (card, script) = (Card::of_memory(capacity)?.name, script_of(study)?);
        (is_training && is_cuda && script.ends_with(".py")).then(|| {
            format!("``snapscope fix --card {card} -- python {script}`` tries each remedy on this script and says what it saves.")
        })
    };
    let told = found.iter_mut().filter(is_out).find_map(|finding| step(finding.device).map(|step| (finding, step)));
    if let Some((finding, step)) = told {
        finding.advice = std::mem::take(&mut finding.advice).then(&step);
    }
}

fn run_of(trace: &Trace, study: &Study<'_>, findings: &[Finding], capacity_bytes: Option<u64>) -> RunOfDevice {
    let peak_bytes = study.timeline.live_peak().1;
    let is_worst = |finding: &&Finding| {
        let is_serious = match finding.severity {
            Severity::Error => true,
            Severity::Warning => finding.at_peak.fills(peak_bytes),
            Severity::Info => false,
        };
        is_serious && finding.device == study.device.index
    };
    let error = findings.iter().find(is_worst).map(|finding| (finding.title.as_str(), finding.at_peak));
    let headline = Headline::of(trace, study, error, capacity_bytes);
    RunOfDevice {
        device: study.device.index,
        kind: study.kind,
        steps: study.steps.as_ref().map_or(0, |steps| steps.steps.len() as u64),
        recorded_capacity_bytes: recorded_capacity(study.device, study.timeline),
        headline: headline.sentence(),
        has_problem: headline.has_problem,
        subject: headline.subject,
    }
}

fn finding(trace: &Trace, studies: &[Study<'_>], found: analysis::Finding) -> Finding {
    let study = studies.iter().find(|study| study.device.index == found.device);
    let parts = study.map_or_else(Vec::new, |study| finding_parts(study, &found));
    let shown = study.and_then(|study| finding_target(study, &found));
    let analysis::Evidence { shows, events, stacks } = found.evidence;
    let stacks = stacks.iter().map(|&stack| frames(trace, stack)).collect();
    Finding {
        code: found.code,
        severity: found.severity,
        confidence: found.confidence,
        device: found.device,
        bytes: found.bytes,
        at_peak: found.at_peak,
        title: found.title,
        line: found.line,
        parts: parts.into_iter().map(|one| part(trace, one)).collect(),
        target: shown.map(|shown| target(trace, shown)),
        evidence: Evidence { shows, events, stacks },
        advice: found.advice.text(),
        steps: found.advice.steps,
        why: found.advice.why,
    }
}

fn part(trace: &Trace, part: analysis::FindingPart) -> FindingPart {
    let analysis::FindingPart { title, bytes, count, target: shown } = part;
    FindingPart { title, bytes, count, target: target(trace, shown) }
}

fn target(trace: &Trace, target: analysis::FindingTarget) -> Target {
    let analysis::FindingTarget { first, last, category, stack, line, pattern } = target;
    let line = line.map(|Label { title, detail }| TargetLine { title, detail });
    Target { first, last, category, stack: stack.map_or_else(Vec::new, |stack| frames(trace, stack)), line, pattern }
}

fn growth(trace: &Trace, study: &Study<'_>, config: &DiagnosisConfig) -> Growth {
    let groups = study.growth.kept.iter().filter(|_| config.with_groups);
    Growth {
        device: study.device.index,
        steps: study.growth.steps as u64,
        bytes_per_step: study.growth.bytes_per_step(),
        until_full: until_full(study, config.findings.capacity_bytes),
        classes: study.growth.by_class(),
        groups: groups.filter_map(|kept| group(trace, kept)).collect(),
    }
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
