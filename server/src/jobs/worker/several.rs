//! Runs a job that makes several recordings: a search for the largest batch, remedies, or a sweep.
//!
//! Its recordings run one after another, so that it takes one slot and the memory of one recorder. It keeps no
//! snapshots. A job that is given back starts again, because its recordings take seconds each.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use shared::api::{JobEvent, JobTask, Recorded, TaskSummary};
use shared::job::RawJob;
use tokio::sync::mpsc::UnboundedSender;
use tracing::info;

use super::Context;
use crate::Failure;
use crate::recording::fix::fix_config;
use crate::recording::repro::RecordingFailure;
use crate::recording::sweep::{self, Audience, SearchError, Settings};

/// Documents of a job that has made its recordings.
pub(super) struct Several {
    /// Summary, as JSON.
    pub(super) summary: String,
    /// Results, as JSON.
    pub(super) report: String,
}

impl Several {
    fn of(summary: &TaskSummary, report: &impl Serialize) -> Self {
        let json = "plain data can be written";
        Self {
            summary: serde_json::to_string(summary).expect(json),
            report: serde_json::to_string(report).expect(json),
        }
    }
}

/// Makes the recordings of a task.
pub(super) fn record(
    raw: RawJob,
    task: JobTask,
    scratch: PathBuf,
    teller: Teller,
) -> Result<Several, Box<RecordingFailure>> {
    match task {
        JobTask::Sweep => of_sweep(raw, scratch, teller),
        JobTask::Fix => of_fix(&raw, scratch, &teller).map_err(|error| teller.failure(error)),
        JobTask::Fit | JobTask::Record | JobTask::Script => {
            of_fit(&raw, &scratch, &teller).map_err(|error| teller.failure(error))
        }
    }
}

fn of_fit(raw: &RawJob, scratch: &Path, teller: &Teller) -> Result<Several, SearchError> {
    let Context { recorder, settings, .. } = &*teller.context;
    let report = sweep::fit(recorder, raw, &settings.limits, Some(scratch), teller)?.report();
    let summary = TaskSummary {
        recordings: report.probes.len() as u64,
        fitting: report.probes.iter().filter(|probe| probe.oom.is_none()).count() as u64,
        failed: 0,
        largest_batch: report.batch,
        remedies: Vec::new(),
    };
    Ok(Several::of(&summary, &report))
}

fn of_fix(raw: &RawJob, scratch: PathBuf, teller: &Teller) -> Result<Several, SearchError> {
    let report = fix_config(&teller.context.recorder, raw, &teller.settings(scratch), teller)?;
    let summary = TaskSummary {
        recordings: teller.done.load(Ordering::Relaxed),
        fitting: report.remedies.iter().filter(|remedy| remedy.figures.fits).count() as u64,
        failed: 0,
        largest_batch: report.largest_batch,
        remedies: report.smallest_set.clone(),
    };
    Ok(Several::of(&summary, &report))
}

fn of_sweep(raw: RawJob, scratch: PathBuf, mut teller: Teller) -> Result<Several, Box<RecordingFailure>> {
    let name = raw.name.clone().unwrap_or_default();
    let sweep = raw.into_sweep().map_err(|problems| teller.failure(SearchError::Config(problems)))?;
    teller.total = Some(sweep.combinations.len() as u64);
    let outcomes = sweep::record_all(&teller.context.recorder, &sweep, &teller.settings(scratch), &teller);
    let outcomes = outcomes.map_err(|failure| teller.failure(failure.into()))?;
    if let Some(Err(first)) = outcomes.first().filter(|_| outcomes.iter().all(Result::is_err)) {
        // Most likely all failed for the same reason.
        return Err(first.clone());
    }
    let report = sweep::report(&name, &sweep, &outcomes);
    let recordings = report.rows.iter().filter_map(|row| row.recording.as_ref());
    let summary = TaskSummary {
        recordings: report.rows.len() as u64,
        fitting: recordings.filter(|recording| recording.oom.is_none()).count() as u64,
        failed: report.rows.iter().filter(|row| row.failure.is_some()).count() as u64,
        largest_batch: None,
        remedies: Vec::new(),
    };
    Ok(Several::of(&summary, &report))
}

/// Turns the ends of recordings into events of the job, and stops them when the job must end.
pub(super) struct Teller {
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
    pub(super) fn new(context: Arc<Context>, events: UnboundedSender<JobEvent>, cancelled: Arc<AtomicBool>) -> Self {
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

    /// Returns the settings of recordings one after another, of which no snapshot is kept.
    fn settings(&self, scratch: PathBuf) -> Settings {
        Settings { limits: self.context.settings.limits.clone(), at_once: 1, keep: None, scratch: Some(scratch) }
    }

    /// Says what ended the recordings early.
    fn failure(&self, error: SearchError) -> Box<RecordingFailure> {
        match error {
            _ if self.is_late() => {
                let seconds = self.time.as_secs();
                let message = format!("the recordings took longer than {seconds} s, the limit of a job");
                Failure::new(message, "vary fewer values, or use fewer steps").into()
            }
            SearchError::Config(problems) => {
                let message = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                Failure::new(message, "submit the job again with another config").into()
            }
            SearchError::Stopped(failure) => failure.into(),
            SearchError::Recording(None, failure) => failure,
            SearchError::Recording(Some(batch), failure) => {
                let message = format!("batch {batch}: {}", failure.message);
                Box::new(RecordingFailure { message, ..*failure })
            }
        }
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
