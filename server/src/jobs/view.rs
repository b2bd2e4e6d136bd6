//! Converts stored jobs to the form that the API returns.

use serde::de::DeserializeOwned;
use shared::api::{JobDetails, JobOutcome, JobResource, JobState, JobTask, RecordingCurve, RecordingReport};
use shared::job::{Device, RawJob};

use super::submit::{card_of, of_script};
use crate::database::{Database, JobSummary, Result};

pub fn resource(row: JobSummary) -> JobResource {
    let state = JobState::of(&row.state).unwrap_or(JobState::Failed);
    let (card, steps) = card_and_steps(&row);
    let task = JobTask::of(&row.task).unwrap_or_default();
    let is_one = task.is_one();
    let result: Option<RecordingReport> = read(row.result.as_ref().filter(|_| is_one));
    // Times stay in order if the clock was set back.
    let started_ms = row.started_ms.map(|started| started.max(row.created_ms));
    let finished_ms = row.finished_ms.map(|finished| finished.max(started_ms.unwrap_or(row.created_ms)));
    JobResource {
        id: row.id,
        state,
        outcome: JobOutcome::of(state, result.as_ref()),
        name: row.name,
        kind: row.kind,
        card,
        priority: row.priority.try_into().unwrap_or(0),
        steps,
        created_ms: row.created_ms,
        started_ms,
        finished_ms,
        attempts: row.attempts.try_into().unwrap_or(0),
        before: row.ahead.map(|ahead| ahead.try_into().unwrap_or(0)),
        progress: read(row.progress.as_ref().filter(|_| is_one)),
        result,
        task,
        recorded: read(row.progress.as_ref().filter(|_| !is_one && !state.is_over())),
        summary: read(row.result.as_ref().filter(|_| !is_one)),
        error: read(row.error.as_ref()),
        snapshot_bytes: row.snapshot_bytes.map(|bytes| bytes.try_into().unwrap_or(0)),
    }
}

/// Reads a document; one of an older version that can no longer be parsed is omitted.
fn read<T: DeserializeOwned>(json: Option<&String>) -> Option<T> {
    serde_json::from_str(json?).ok()
}

/// Returns the card and steps of a job; for jobs of an older version they are only in the config.
fn card_and_steps(row: &JobSummary) -> (String, u64) {
    if let (Some(card), Some(steps)) = (&row.card, row.steps) {
        return (card.clone(), steps.try_into().unwrap_or(0));
    }
    let job = row.config.as_deref().and_then(|config| RawJob::from_json(config).and_then(RawJob::resolve).ok());
    job.map_or_else(Default::default, |job| (card_of(&job), job.steps))
}

/// Returns the memory of each card if all have the same; for a real GPU it comes from the recording.
fn capacity_bytes(task: JobTask, config: &str, curve: Option<&RecordingCurve>) -> Option<u64> {
    if task == JobTask::Script {
        return of_script(config)?.0.memory_bytes();
    }
    match &RawJob::from_json(config).and_then(RawJob::resolve).ok()?.device {
        Device::Virtual(cards) => cards.memory_bytes(),
        Device::Cuda(_) => curve?.capacity_bytes,
    }
}

/// Reads a job with the details of its own page; `None` if no job has this ID.
pub async fn details(database: &Database, id: &str) -> Result<Option<JobDetails>> {
    // In this order, a job that is over has its log and its documents.
    let (Some(summary), Some(row)) = (database.job_summary(id).await?, database.job(id).await?) else {
        return Ok(None);
    };
    let notes = serde_json::from_str(&row.notes).unwrap_or_default();
    let log = row.log.iter().flat_map(|log| log.lines()).map(str::to_owned).collect();
    let documents = database.job_documents(id).await?;
    let (curve, report) = (read(documents.curve.as_ref()), documents.report);
    let task = JobTask::of(&row.task).unwrap_or_default();
    let capacity_bytes = capacity_bytes(task, &row.config, curve.as_ref());
    Ok(Some(JobDetails {
        job: resource(summary),
        source: row.source,
        notes,
        log,
        capacity_bytes,
        curve,
        fit: read(report.as_ref().filter(|_| task == JobTask::Fit)),
        fix: read(report.as_ref().filter(|_| task == JobTask::Fix)),
        sweep: read(report.as_ref().filter(|_| task == JobTask::Sweep)),
    }))
}
