//! Handles `jobs`: submits, lists, renames, cancels and deletes recordings.

use std::time::{Duration, Instant};

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ContentType, LOCATION,
};
use actix_web::web::{self, Bytes, Data, Path, Payload};
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream, Stream};
use serde::Deserialize;
use shared::api::{ErrorCode, JobChange, JobDetails, JobList, JobRequest, JobResource, JobState, SCRIPTS};
use shared::base::format::counted;
use tokio::time::timeout;
use utoipa::IntoParams;

use super::job_request::{self, parameters};
use crate::database::{Database, Deletion, Event, JobRow, NewJob, Page, Submission};
use crate::jobs;
use crate::serve::asset::tagged;
use crate::serve::error::ApiError;
use crate::serve::feeds::Reader;
use crate::serve::route::Client;
use crate::serve::seats::Seat;
use crate::serve::state::State;
use crate::store::{StoreError, StoreErrorKind};

/// Number of jobs per page, by default and at most.
const DEFAULT_LIMIT: u32 = 50;
const MOST_LIMIT: u32 = 200;

/// Submits a job to the queue.
///
/// The body is a JSON request, or a bare config with overrides in the address. Repeating a request with the same
/// `Idempotency-Key` returns the same job.
#[utoipa::path(
    post, path = "/api/v1/jobs", operation_id = "submit_job", tag = "jobs", security(("token" = [])),
    params(
        job_request::Overrides,
        ("Idempotency-Key" = Option<String>, Header, description = "Unique key of this request, of 1 to 200 characters")
    ),
    request_body(content(
        (JobRequest = "application/json"),
        (String = "text/plain"),
    )),
    responses((
        status = 202, description = "The queued job", body = JobDetails,
        headers(("Location" = String, description = "Address of the job"))
    ))
)]
pub(crate) async fn submit(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    let key = idempotency_key(&request)?;
    let wanted = job_request::read(&request, payload).await?;
    // Checking a config of a megabyte takes some milliseconds, during which other requests would wait.
    let prepared = web::block(move || jobs::prepare(&wanted, key)).await;
    let prepared = prepared.map_err(|_| ApiError::new(ErrorCode::Internal, "The config can't be checked."))?;
    let job = prepared.map_err(|problems| ApiError::config(&problems))?;
    let id = queue(&state, job).await?;
    let details = jobs::details(&state.database, &id).await?.ok_or_else(no_such_job)?;
    Ok(HttpResponse::Accepted().insert_header((LOCATION, format!("/api/v1/jobs/{id}"))).json(details))
}

/// Queues a job, or finds the one that the same request has queued before; returns its id.
pub(super) async fn queue(state: &State, job: NewJob) -> Result<String, ApiError> {
    // Repeating an accepted request succeeds, whatever the current state of the workers and of the queue.
    let submission = match state.database.submitted(&job).await? {
        Some(known) => known,
        None => {
            check_kind(state, &job.kind).await?;
            state.database.submit(&job).await?
        }
    };
    match submission {
        Submission::New => Ok(job.id),
        Submission::Known(id) => Ok(id),
        Submission::Conflict => {
            let message = "This Idempotency-Key was used before for a different request.";
            Err(ApiError::new(ErrorCode::Conflict, message))
        }
        Submission::QueueFull => {
            let message = format!("The queue is full, with {} waiting.", counted(state.config.queue, "job"));
            Err(ApiError::new(ErrorCode::QueueFull, message).retry_after(30))
        }
        Submission::NoRoom => {
            let message = "The quota of the store is used up, so there is no space for another job.";
            Err(ApiError::new(ErrorCode::NoRoom, message))
        }
    }
}

/// Checks that some worker records on this kind of device.
async fn check_kind(state: &State, kind: &str) -> Result<(), ApiError> {
    let devices = state.devices().await?;
    let kinds = devices.kinds();
    if kinds.iter().any(|known| known == kind) {
        return Ok(());
    }
    let message = match kinds.as_slice() {
        _ if kind == SCRIPTS && !devices.problems.contains_key(kind) => {
            "This server runs no scripts, because they are foreign code; its operator can allow them with --scripts. \
             `snapscope run` runs them on your own machine."
                .to_owned()
        }
        _ if devices.problems.contains_key(kind) => {
            format!("No job can run on `{kind}` at this time: {}.", devices.problems[kind])
        }
        [] => "No worker takes jobs at this time.".to_owned(),
        kinds => format!("No worker has the device `{kind}`; available: {}.", kinds.join(", ")),
    };
    Err(ApiError::new(ErrorCode::InvalidConfig, message))
}

fn idempotency_key(request: &HttpRequest) -> Result<Option<String>, ApiError> {
    const LONGEST: usize = 200;
    let Some(value) = request.headers().get("Idempotency-Key") else { return Ok(None) };
    match value.to_str() {
        Ok(key) if !key.is_empty() && key.len() <= LONGEST => Ok(Some(key.to_owned())),
        _ => {
            let message = format!("An Idempotency-Key must have 1 to {LONGEST} visible characters.");
            Err(ApiError::new(ErrorCode::BadRequest, message))
        }
    }
}

/// Filter and size of one page of the job list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Restricts the list to jobs in this state.
    state: Option<JobState>,
    /// Restricts the list to jobs older than the one with this `id`.
    before: Option<String>,
    /// Maximum number of jobs, from 1 to 200 [default: 50]
    limit: Option<u32>,
}

/// Returns one page of the job list, latest first.
#[utoipa::path(
    get, path = "/api/v1/jobs", operation_id = "list_jobs", tag = "jobs", params(ListQuery),
    responses((status = 200, description = "A page of the list", body = JobList))
)]
pub(crate) async fn list(request: HttpRequest, state: Data<State>) -> Result<web::Json<JobList>, ApiError> {
    let ListQuery { state: wanted, before, limit } = parameters(request.query_string())?;
    let limit = limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MOST_LIMIT);
    let mut rows = state.database.jobs(&Page { state: wanted, before, limit: limit + 1 }).await?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next = more.then(|| rows.last().map(|row| row.id.clone())).flatten();
    // The configs of jobs from older versions are parsed, during which other requests would wait.
    let jobs = web::block(move || rows.into_iter().map(jobs::resource).collect()).await;
    let jobs = jobs.map_err(|_| ApiError::new(ErrorCode::Internal, "The list can't be made."))?;
    Ok(web::Json(JobList { jobs, next }))
}

/// Returns a job.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}", operation_id = "get_job", tag = "jobs",
    params(("id" = String, Path, description = "The job's `id`")),
    responses((status = 200, description = "The job", body = JobDetails))
)]
pub(crate) async fn get(id: Path<String>, state: Data<State>) -> Result<web::Json<JobDetails>, ApiError> {
    Ok(web::Json(jobs::details(&state.database, &id).await?.ok_or_else(no_such_job)?))
}

/// Cancels a queued or running job.
///
/// A running job becomes `cancelled` once its recorder has ended; a job that has ended stays unchanged.
#[utoipa::path(
    post, path = "/api/v1/jobs/{id}/cancel", operation_id = "cancel_job", tag = "jobs", security(("token" = [])),
    params(("id" = String, Path, description = "The job's `id`")),
    responses((status = 200, description = "The job in its current state", body = JobResource))
)]
pub(crate) async fn cancel(id: Path<String>, state: Data<State>) -> Result<web::Json<JobResource>, ApiError> {
    state.database.cancel(&id).await?;
    Ok(web::Json(resource(&state.database, &id).await?))
}

/// Renames a job.
///
/// Its initial name comes from its config. Links to its snapshot keep their titles.
#[utoipa::path(
    patch, path = "/api/v1/jobs/{id}", operation_id = "change_job", tag = "jobs", security(("token" = [])),
    params(("id" = String, Path, description = "The job's `id`")), request_body = JobChange,
    responses((status = 200, description = "The job with its new name", body = JobResource))
)]
pub(crate) async fn change(
    id: Path<String>,
    payload: Payload,
    state: Data<State>,
) -> Result<web::Json<JobResource>, ApiError> {
    let JobChange { name } = job_request::read_change(payload).await?;
    state.database.rename_job(&id, &name).await?;
    Ok(web::Json(resource(&state.database, &id).await?))
}

/// Deletes a job that has ended, with its events and its snapshot.
///
/// Links made from its snapshot stay valid. The bytes of the snapshot are removed from the store within about an hour,
/// unless a link or another job has the same ones.
#[utoipa::path(
    delete, path = "/api/v1/jobs/{id}", operation_id = "delete_job", tag = "jobs", security(("token" = [])),
    params(("id" = String, Path, description = "The job's `id`")),
    responses((status = 204, description = "The job was deleted"))
)]
pub(crate) async fn delete(id: Path<String>, state: Data<State>) -> Result<HttpResponse, ApiError> {
    match state.database.delete_job(&id).await? {
        Deletion::Deleted => Ok(HttpResponse::NoContent().finish()),
        Deletion::NotOver => {
            let message = "This job is waiting or running: cancel it first, then delete it once it has ended.";
            Err(ApiError::new(ErrorCode::Conflict, message))
        }
        Deletion::Unknown => Err(no_such_job()),
    }
}

fn no_such_job() -> ApiError {
    ApiError::not_found("There is no such job; jobs are deleted after some time.")
}

/// Reads a stored job, or fails with "not found".
pub(super) async fn find(database: &Database, id: &str) -> Result<JobRow, ApiError> {
    database.job(id).await?.ok_or_else(no_such_job)
}

/// Reads a job in the form of the job list, or fails with "not found".
pub(super) async fn resource(database: &Database, id: &str) -> Result<JobResource, ApiError> {
    Ok(jobs::resource(database.job_summary(id).await?.ok_or_else(no_such_job)?))
}

/// Returns the snapshot of a finished job, compressed with gzip.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/snapshot", operation_id = "get_job_snapshot", tag = "jobs",
    params(("id" = String, Path, description = "The job's `id`")),
    responses(
        (status = 200, description = "PyTorch's official pickle, compressed with gzip", content_type = "application/gzip",
            body = Vec<u8>),
        (status = 304, description = "The snapshot has the tag in `If-None-Match`"),
    )
)]
pub(crate) async fn snapshot(
    request: HttpRequest,
    id: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    let row = find(&state.database, &id).await?;
    let Some(hash) = &row.snapshot else {
        return Err(ApiError::not_found(format!("This job is {} and has no snapshot.", row.state)));
    };
    let stored = state.database.snapshot(hash).await?.ok_or_else(|| ApiError::not_found("The snapshot is gone."))?;
    send(&request, &state, (hash, &stored.object), &row.name).await
}

/// Streams a snapshot as a download, given its hash and its object.
///
/// Clients must revalidate a cached copy, because the job or the link may have expired or been deleted.
pub(crate) async fn send(
    request: &HttpRequest,
    state: &State,
    (hash, object): (&str, &str),
    name: &str,
) -> Result<HttpResponse, ApiError> {
    let (mut response, unchanged) = tagged(request.headers(), &format!("\"{hash}\""), "private, no-cache");
    if unchanged {
        return Ok(response.finish());
    }
    let (bytes, stream) = content(state, object).await?;
    Ok(response
        .insert_header((CONTENT_TYPE, "application/gzip"))
        .insert_header((CONTENT_LENGTH, bytes))
        // The content itself is a gzip file and must be saved unchanged.
        .insert_header((CONTENT_ENCODING, "identity"))
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{}.pickle.gz\"", file_name(name))))
        .streaming(stream.map(|piece| piece.map_err(|error| std::io::Error::other(error.to_string())))))
}

/// Opens an object of the store; returns its size in bytes and its content.
pub(crate) async fn content(
    state: &State,
    object: &str,
) -> Result<(u64, BoxStream<'static, Result<Bytes, StoreError>>), ApiError> {
    state.store.read(object).await.map_err(|error| match error.kind() {
        StoreErrorKind::NotFound => ApiError::new(ErrorCode::Gone, "The store has lost this snapshot."),
        _ => error.into(),
    })
}

/// Reduces a name to characters that any file system accepts.
fn file_name(name: &str) -> String {
    const LONGEST: usize = 60;
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' });
    let plain: String = plain.take(LONGEST).collect();
    let plain = plain.trim_matches(['.', '-']);
    if plain.is_empty() { "snapshot".to_owned() } else { plain.to_owned() }
}

/// Interval between keep-alive comments in a silent stream, because proxies close idle connections.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Maximum duration of a stream; a browser reconnects by itself and continues where it ended.
const LONGEST: Duration = Duration::from_secs(3600);

/// Retry time for clients with too many streams, in seconds.
const RETRY_SECONDS: u64 = 10;

/// Streams the events of a job as server-sent events until it has ended.
///
/// The `data` of each is a `JobEvent`, and its `id` counts from 1. With `Last-Event-ID` the stream continues after that
/// event.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/events", operation_id = "watch_job", tag = "jobs",
    params(
        ("id" = String, Path, description = "The job's `id`"),
        ("Last-Event-ID" = Option<i64>, Header, description = "The `id` of the last event that the client has seen")
    ),
    responses(
        (status = 200, description = "A stream of events", content_type = "text/event-stream", body = String),
        (status = 204, description = "The job has ended, and there are no further events")
    )
)]
pub(crate) async fn events(
    request: HttpRequest,
    id: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    let row = find(&state.database, &id).await?;
    let last: i64 =
        request.headers().get("Last-Event-ID").and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(0);
    let is_over = JobState::of(&row.state).is_none_or(JobState::is_over);
    if is_over && state.database.events_after(&id, last, 1).await?.is_empty() {
        // A browser reconnects after the end of a stream unless it receives status 204.
        return Ok(HttpResponse::NoContent().finish());
    }
    let client = request.extensions().get::<Client>().map(|client| client.0);
    let Some(seat) = state.streams.take(client) else {
        return Err(ApiError::new(ErrorCode::TooManyRequests, "This address has reached its limit of event streams.")
            .retry_after(RETRY_SECONDS));
    };
    // Waiting for a number that no event has would take for ever.
    let is_known = last == 0 || !state.database.events_after(&id, last - 1, 1).await?.is_empty();
    let watch = Watch {
        reader: state.feeds.read(&state.database, id.into_inner(), if is_known { last } else { 0 }),
        until: Instant::now() + LONGEST,
        _seat: seat,
    };
    Ok(HttpResponse::Ok()
        .insert_header(ContentType(mime::TEXT_EVENT_STREAM))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header(("X-Accel-Buffering", "no"))
        .streaming(watch.stream()))
}

/// State of an event stream.
struct Watch {
    reader: Reader,
    /// Time at which the stream ends and the client must reconnect.
    until: Instant,
    _seat: Seat,
}

impl Watch {
    /// Yields pieces of the stream until the job has ended; a short outage of the database only delays them.
    fn stream(self) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
        stream::unfold(self, |mut watch| async move {
            if Instant::now() >= watch.until {
                return None;
            }
            let piece = match timeout(KEEP_ALIVE, watch.reader.next()).await {
                Ok(events) => events?.iter().map(written).collect::<String>().into(),
                Err(_) => Bytes::from_static(b": still here\n\n"),
            };
            Some((Ok(piece), watch))
        })
    }
}

/// Formats an event as the HTML standard defines server-sent events.
fn written(event: &Event) -> String {
    format!("id: {}\ndata: {}\n\n", event.sequence, event.body)
}
