//! Handles `gallery/{name}/recording`: one recording of each config of the gallery, which everybody opens.
//!
//! The recording is a job like any other. Its idempotency key, which no request can have, makes it the same one for all
//! who ask, and a config that changes with a version of the server gets another.

use actix_web::web::{self, Data, Path};
use sha2::{Digest as _, Sha256};
use shared::api::{JobRequest, JobResource, JobState};

use super::jobs::{queue, resource};
use crate::database::{NewJob, Submission};
use crate::hex::hex;
use crate::jobs;
use crate::serve::error::ApiError;
use crate::serve::state::State;

/// Returns the recording of a gallery config, or `null` if nobody has asked for it yet.
#[utoipa::path(
    get, path = "/api/v1/gallery/{name}/recording", operation_id = "get_gallery_recording", tag = "catalog",
    params(("name" = String, Path, description = "The config's `name`")),
    responses((status = 200, description = "The job of the recording, or `null`", body = Option<JobResource>))
)]
pub(crate) async fn get(name: Path<String>, state: Data<State>) -> Result<web::Json<Option<JobResource>>, ApiError> {
    Ok(web::Json(match latest(&state, &name).await? {
        Latest::There(job) => Some(*job),
        Latest::Missing(_) => None,
    }))
}

/// Returns the recording of a gallery config, and queues it if there is none; the gallery has those of scripts.
///
/// A recording that failed, was cancelled or was deleted is made again.
#[utoipa::path(
    post, path = "/api/v1/gallery/{name}/recording", operation_id = "record_gallery_config", tag = "catalog",
    security(("token" = [])), params(("name" = String, Path, description = "The config's `name`")),
    responses((status = 200, description = "The job of the recording", body = JobResource))
)]
pub(crate) async fn record(name: Path<String>, state: Data<State>) -> Result<web::Json<JobResource>, ApiError> {
    match latest(&state, &name).await? {
        Latest::There(job) => Ok(web::Json(*job)),
        Latest::Missing(job) => {
            let id = queue(&state, *job).await?;
            Ok(web::Json(resource(&state.database, &id).await?))
        }
    }
}

/// Latest recording of a config.
enum Latest {
    /// It waits, runs or has a snapshot.
    There(Box<JobResource>),
    /// There is none; this job makes it.
    Missing(Box<NewJob>),
}

/// Finds the recording of a config; those without a snapshot keep their keys, so the next one has the next number.
async fn latest(state: &State, name: &str) -> Result<Latest, ApiError> {
    let config = state.gallery.iter().find(|row| row.name == name).and_then(|row| row.config.clone());
    let config = config.ok_or_else(|| ApiError::not_found("The gallery has no such config."))?;
    let version = hex(Sha256::digest(&config));
    let request = JobRequest { config, file_name: Some(format!("{name}.toml")), ..JobRequest::default() };
    let mut job = jobs::prepare(&request, None).map_err(|problems| ApiError::config(&problems))?;
    for number in 0_u64.. {
        // No header can hold the dots, so that no other request has this key.
        job.idempotency_key = Some(format!("gallery·{name}·{}·{number}", &version[..16]));
        match state.database.submitted(&job).await? {
            None => break,
            Some(Submission::Known(id)) => {
                let job = resource(&state.database, &id).await?;
                if job.snapshot_bytes.is_some() || matches!(job.state, JobState::Queued | JobState::Running) {
                    return Ok(Latest::There(Box::new(job)));
                }
            }
            // Another version made the request in another way.
            Some(_) => {}
        }
    }
    Ok(Latest::Missing(Box::new(job)))
}
