//! A job as the interface shows it.

use shared::api::{JobDetails, JobOutcome, JobResource, JobState, RecordingCurve, RecordingReport};
use shared::job::{Device, RawJob};

use crate::database::{Database, JobRow, Result};

/// A job of a list.
///
/// # Errors
///
/// The database fails.
pub async fn resource(database: &Database, row: JobRow) -> Result<JobResource> {
    let state = JobState::of(&row.state).unwrap_or(JobState::Failed);
    let before = match state {
        JobState::Queued => Some(database.jobs_before(&row).await?.try_into().unwrap_or(0)),
        _ => None,
    };
    let snapshot_bytes = match &row.snapshot {
        Some(hash) => database.snapshot(hash).await?.map(|row| row.stored_bytes.try_into().unwrap_or(0)),
        None => None,
    };
    // What an older version wrote and this one cannot read is left out.
    let job = RawJob::from_json(&row.config).and_then(RawJob::resolve).ok();
    let card = job.as_ref().map_or_else(String::new, |job| match &job.device {
        Device::Virtual(cards) => cards.to_string(),
        Device::Cuda(index) => format!("cuda:{index}"),
    });
    let result: Option<RecordingReport> = row.result.and_then(|json| serde_json::from_str(&json).ok());
    // A clock that was put back makes no time run backwards.
    let started_ms = row.started_ms.map(|started| started.max(row.created_ms));
    let finished_ms = row.finished_ms.map(|finished| finished.max(started_ms.unwrap_or(row.created_ms)));
    Ok(JobResource {
        id: row.id,
        state,
        outcome: JobOutcome::of(state, result.as_ref()),
        name: row.name,
        kind: row.kind,
        card,
        priority: row.priority.try_into().unwrap_or(0),
        steps: job.map_or(0, |job| job.steps),
        created_ms: row.created_ms,
        started_ms,
        finished_ms,
        attempts: row.attempts.try_into().unwrap_or(0),
        before,
        progress: row.progress.and_then(|json| serde_json::from_str(&json).ok()),
        result,
        error: row.error.and_then(|json| serde_json::from_str(&json).ok()),
        snapshot_bytes,
    })
}

/// The memory of each card of a job, where all have the same; that of a real GPU is known from its recording.
fn capacity_bytes(config: &str, curve: Option<&RecordingCurve>) -> Option<u64> {
    match RawJob::from_json(config).and_then(RawJob::resolve).ok()?.device {
        Device::Virtual(cards) => cards.memory_bytes(),
        Device::Cuda(_) => curve?.capacity_bytes,
    }
}

/// A job with what its own page shows beside.
///
/// # Errors
///
/// The database fails.
pub async fn details(database: &Database, row: JobRow) -> Result<JobDetails> {
    let source = row.source.clone();
    let notes = serde_json::from_str(&row.notes).unwrap_or_default();
    let log = row.log.iter().flat_map(|log| log.lines()).map(str::to_owned).collect();
    let curve = database.job_curve(&row.id).await?.and_then(|json| serde_json::from_str(&json).ok());
    let capacity_bytes = capacity_bytes(&row.config, curve.as_ref());
    Ok(JobDetails { job: resource(database, row).await?, source, notes, log, capacity_bytes, curve })
}
