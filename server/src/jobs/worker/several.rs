//! Runs a job that makes several recordings: a search for the largest batch, remedies, or a sweep.
//!
//! Its recordings run one after another, so that it takes one slot and the memory of one recorder. It keeps no
//! snapshots. A job that is given back starts again, because its recordings take seconds each.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use shared::api::{FitReport, FixReport, JobEvent, JobTask, Recorded, SweepReport, TaskSummary};
use shared::job::{Problem, RawJob};
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::spawn_blocking;
use tracing::{Span, info};

use super::Context;
use super::heartbeat::{Left, follow};
use crate::Failure;
use crate::database::JobRow;
use crate::recording::fix::{FixError, fix_config};
use crate::recording::repro::{Limits, RecordingFailure};
use crate::recording::sweep::{self, Audience, FitError, Settings};

/// Documents of a job that has made its recordings.
pub(super) struct Several {
    /// Summary, as JSON.
    pub(super) summary: String,
    /// Results, as JSON.
    pub(super) report: String,
}

/// Makes the recordings on a thread of their own and follows them.
pub(super) async fn record(
    context: &Arc<Context>,
    row: &JobRow,
    raw: RawJob,
    task: JobTask,
    folder: &TempDir,
) -> (Left, Result<Several, Box<RecordingFailure>>) {
    let (sender, events) = unbounded_channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let teller = Teller::new(Arc::clone(context), sender, Arc::clone(&cancelled));
    let (context_of_thread, span, scratch) = (Arc::clone(context), Span::current(), folder.path().to_owned());
    let thread = spawn_blocking(move || {
        span.in_scope(|| match task {
            JobTask::Sweep => of_sweep(&context_of_thread, raw, scratch, teller),
            JobTask::Fix => of_fix(&context_of_thread, &raw, scratch, &teller),
            JobTask::Fit | JobTask::Record | JobTask::Script => of_fit(&context_of_thread, &raw, scratch, &teller),
        })
    });
    let left = follow(context, &row.id, events, &cancelled).await;
    let result = thread.await.unwrap_or_else(|error| Err(Box::new(RecordingFailure::of_thread(&error))));
    (left, result)
}

fn of_fit(
    context: &Context,
    raw: &RawJob,
    scratch: PathBuf,
    teller: &Teller,
) -> Result<Several, Box<RecordingFailure>> {
    let limits = &context.settings.limits;
    let found = sweep::fit(&context.recorder, raw, limits, Some(&scratch), teller);
    let found = found.map_err(|error| {
        Box::new(match error {
            _ if teller.is_late() => too_long(limits),
            FitError::Config(problems) => invalid(&problems),
            FitError::Scratch(failure) => RecordingFailure::before_start(failure),
            FitError::Recording(batch, failure) => {
                RecordingFailure { message: format!("batch {batch}: {}", failure.message), ..*failure }
            }
        })
    })?;
    let report = found.report();
    Ok(Several { summary: json(&summary_of_fit(&report)), report: json(&report) })
}

fn of_fix(
    context: &Context,
    raw: &RawJob,
    scratch: PathBuf,
    teller: &Teller,
) -> Result<Several, Box<RecordingFailure>> {
    let limits = &context.settings.limits;
    let report =
        fix_config(&context.recorder, raw, &settings(limits, scratch), teller).map_err(|error| match error {
            _ if teller.is_late() => Box::new(too_long(limits)),
            FixError::Config(problems) => Box::new(invalid(&problems)),
            FixError::Stopped(failure) => Box::new(RecordingFailure::before_start(failure)),
            FixError::Recording(failure) => failure,
        })?;
    let summary = summary_of_fix(&report, teller.done.load(Ordering::Relaxed));
    Ok(Several { summary: json(&summary), report: json(&report) })
}

/// Returns the settings of recordings one after another, of which no snapshot is kept.
fn settings(limits: &Limits, scratch: PathBuf) -> Settings {
    Settings { limits: limits.clone(), at_once: 1, keep: None, scratch: Some(scratch) }
}

fn of_sweep(
    context: &Context,
    raw: RawJob,
    scratch: PathBuf,
    mut teller: Teller,
) -> Result<Several, Box<RecordingFailure>> {
    let limits = &context.settings.limits;
    let name = raw.name.clone().unwrap_or_default();
    let sweep = raw.into_sweep().map_err(|problems| Box::new(invalid(&problems)))?;
    teller.total = Some(sweep.combinations.len() as u64);
    let settings = settings(limits, scratch);
    let outcomes = sweep::record_all(&context.recorder, &sweep, &settings, &teller);
    let outcomes = outcomes.map_err(|failure| {
        Box::new(if teller.is_late() { too_long(limits) } else { RecordingFailure::before_start(failure) })
    })?;
    if let Some(Err(first)) = outcomes.first().filter(|_| outcomes.iter().all(Result::is_err)) {
        // Most likely all failed for the same reason.
        return Err(first.clone());
    }
    let report = sweep::report(&name, &sweep, &outcomes);
    Ok(Several { summary: json(&summary_of_sweep(&report)), report: json(&report) })
}

fn summary_of_fit(report: &FitReport) -> TaskSummary {
    TaskSummary {
        recordings: report.probes.len() as u64,
        fitting: report.probes.iter().filter(|probe| probe.oom.is_none()).count() as u64,
        failed: 0,
        largest_batch: report.batch,
        remedies: Vec::new(),
    }
}

fn summary_of_fix(report: &FixReport, recordings: u64) -> TaskSummary {
    let fitting = report.remedies.iter().filter(|remedy| remedy.figures.fits).count();
    TaskSummary {
        recordings,
        fitting: fitting as u64,
        failed: 0,
        largest_batch: report.largest_batch,
        remedies: report.smallest_set.clone(),
    }
}

fn summary_of_sweep(report: &SweepReport) -> TaskSummary {
    let recordings = report.rows.iter().filter_map(|row| row.recording.as_ref());
    TaskSummary {
        recordings: report.rows.len() as u64,
        fitting: recordings.filter(|recording| recording.oom.is_none()).count() as u64,
        failed: report.rows.iter().filter(|row| row.failure.is_some()).count() as u64,
        largest_batch: None,
        remedies: Vec::new(),
    }
}

fn json(document: &impl serde::Serialize) -> String {
    serde_json::to_string(document).expect("plain data can be written")
}

fn invalid(problems: &[Problem]) -> RecordingFailure {
    let message = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    RecordingFailure::before_start(Failure::new(message, "submit the job again with another config"))
}

fn too_long(limits: &Limits) -> RecordingFailure {
    RecordingFailure::before_start(Failure::new(
        format!("the recordings took longer than {} s, the limit of a job", limits.time.as_secs()),
        "vary fewer values, or use fewer steps",
    ))
}

/// Turns the ends of recordings into events of the job, and stops them when the job must end.
struct Teller {
    context: Arc<Context>,
    events: UnboundedSender<JobEvent>,
    cancelled: Arc<AtomicBool>,
    /// Number of recordings; `None` for a search.
    total: Option<u64>,
    done: AtomicU64,
    /// Peak host memory of the current recorder, in bytes.
    memory_bytes: AtomicU64,
    start: Instant,
    /// Time for all recordings together: the limit of a job.
    time: Duration,
}

impl Teller {
    fn new(context: Arc<Context>, events: UnboundedSender<JobEvent>, cancelled: Arc<AtomicBool>) -> Self {
        let time = context.settings.limits.time;
        Self {
            context,
            events,
            cancelled,
            total: None,
            done: AtomicU64::new(0),
            memory_bytes: AtomicU64::new(0),
            start: Instant::now(),
            time,
        }
    }

    fn is_late(&self) -> bool {
        self.start.elapsed() > self.time
    }
}

impl Audience for Teller {
    fn finished(&self, label: &str, outcome: &sweep::Outcome) {
        let recording = outcome.as_ref().ok();
        let seconds = recording.map_or(0.0, |recording| recording.seconds);
        let memory_bytes = self.memory_bytes.swap(0, Ordering::Relaxed);
        self.context.metrics.took(seconds, memory_bytes);
        info!(label, seconds, memory_bytes, "the recorder has ended");
        let recorded = Recorded {
            label: label.to_owned(),
            done: self.done.fetch_add(1, Ordering::Relaxed) + 1,
            total: self.total,
            peak_reserved_bytes: recording.map(|recording| recording.peak_reserved_bytes),
            out_of_memory: recording.is_some_and(|recording| recording.oom.is_some()),
            failure: outcome.as_ref().err().map(|failure| failure.message.clone()),
        };
        // The receiving task may have ended already.
        let _ = self.events.send(JobEvent::Recorded(recorded));
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.is_late()
    }

    fn memory(&self, bytes: u64) {
        self.memory_bytes.fetch_max(bytes, Ordering::Relaxed);
    }
}
