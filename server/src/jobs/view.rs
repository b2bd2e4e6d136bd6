//! A job as the interface shows it.

use shared::api::{JobDetails, JobResource, JobState};
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
    // A clock that was put back makes no time run backwards.
    let started_ms = row.started_ms.map(|started| started.max(row.created_ms));
    let finished_ms = row.finished_ms.map(|finished| finished.max(started_ms.unwrap_or(row.created_ms)));
    Ok(JobResource {
        id: row.id,
        state,
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
        result: row.result.and_then(|json| serde_json::from_str(&json).ok()),
        error: row.error.and_then(|json| serde_json::from_str(&json).ok()),
        snapshot_bytes,
    })
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
    Ok(JobDetails { job: resource(database, row).await?, source, notes, log })
}
