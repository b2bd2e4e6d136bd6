//! `jobs`: submitting, watching and cancelling recordings.

use std::time::Duration;

use actix_multipart::MultipartError;
use actix_multipart::form::bytes::Bytes as FormBytes;
use actix_multipart::form::text::Text;
use actix_multipart::form::{MultipartForm, MultipartFormConfig};
use actix_web::error::PayloadError;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ContentType, LOCATION,
};
use actix_web::web::{self, Bytes, Data, Path, Payload};
use actix_web::{FromRequest as _, HttpMessage as _, HttpRequest, HttpResponse};
use futures_util::stream::{self, Stream, StreamExt as _};
use serde::Deserialize;
use shared::api::{JobDetails, JobEvent, JobList, JobRequest, JobResource, JobState};
use utoipa::{IntoParams, ToSchema};

use crate::database::{Database, Event, JobRow, Page, Submission};
use crate::jobs;
use crate::serve::error::{ApiError, ErrorCode};
use crate::serve::pace::Pace;
use crate::serve::query::parameters;
use crate::serve::state::State;

/// The largest request for a job: more than the parser takes, which then says how much it does.
const MOST_REQUEST_BYTES: usize = 4 << 20;

/// Jobs of a list.
const DEFAULT_LIMIT: u32 = 50;
const MOST_LIMIT: u32 = 200;

/// How often a stream of events looks for new ones.
const LOOK: Duration = Duration::from_millis(300);

/// How often a silent stream says that it is still there: proxies end connections that say nothing.
const KEEP_ALIVE_LOOKS: u32 = 50;

/// Events that are sent at once.
const MOST_EVENTS: i64 = 500;

/// Overrides in the address of a request whose body is a config as it is.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Overrides {
    /// The name of the config's file, whose end tells the format; otherwise the content does.
    file_name: Option<String>,
    /// Virtual cards instead of the config's.
    card: Option<String>,
    /// A real GPU instead of the config's cards.
    device: Option<String>,
    /// Optimizer steps instead of the config's.
    steps: Option<u64>,
    /// Samples of a micro batch instead of the config's.
    batch: Option<u64>,
    /// Tokens of a sample instead of the config's.
    sequence: Option<u64>,
    /// Higher ones first, from 0 to 9.
    priority: Option<u8>,
}

/// A form with files.
#[derive(MultipartForm, ToSchema)]
#[multipart(deny_unknown_fields, duplicate_field = "deny")]
pub(crate) struct JobForm {
    /// The training config in TOML, YAML or JSON, or the `config.json` of Hugging Face.
    #[schema(value_type = String, format = Binary)]
    config: FormBytes,
    /// The `TrainingArguments` of Hugging Face's config, in JSON or YAML.
    #[schema(value_type = Option<String>, format = Binary)]
    training_args: Option<FormBytes>,
    /// Virtual cards instead of the config's.
    #[schema(value_type = Option<String>)]
    card: Option<Text<String>>,
    /// A real GPU instead of the config's cards.
    #[schema(value_type = Option<String>)]
    device: Option<Text<String>>,
    /// Optimizer steps instead of the config's.
    #[schema(value_type = Option<u64>)]
    steps: Option<Text<u64>>,
    /// Samples of a micro batch instead of the config's.
    #[schema(value_type = Option<u64>)]
    batch: Option<Text<u64>>,
    /// Tokens of a sample instead of the config's.
    #[schema(value_type = Option<u64>)]
    sequence: Option<Text<u64>>,
    /// Higher ones first, from 0 to 9.
    #[schema(value_type = Option<u8>)]
    priority: Option<Text<u8>>,
}

/// How large a form may be.
pub(crate) fn form_limits() -> MultipartFormConfig {
    MultipartFormConfig::default().total_limit(MOST_REQUEST_BYTES).memory_limit(MOST_REQUEST_BYTES)
}

/// Queues a job.
///
/// The body is a request in JSON, a form with files, or a config as it is, with overrides in the address.
/// A request that is repeated with the same `Idempotency-Key` is the same job.
#[utoipa::path(
    post, path = "/api/v1/jobs", operation_id = "submit_job", tag = "jobs", security(("token" = [])),
    params(
        Overrides,
        ("Idempotency-Key" = Option<String>, Header, description = "A name for this request, 1 to 200 characters")
    ),
    request_body(content(
        (JobRequest = "application/json"),
        (JobForm = "multipart/form-data"),
        (String = "text/plain"),
    )),
    responses((
        status = 202, description = "The job, which waits for a worker", body = JobDetails,
        headers(("Location" = String, description = "Where the job is"))
    ))
)]
pub(crate) async fn submit(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    let key = idempotency_key(&request)?;
    let wanted = read_request(&request, payload).await?;
    // A config of a megabyte is worth some milliseconds, in which others would wait.
    let prepared = web::block(move || jobs::prepare(&wanted, key)).await;
    let prepared = prepared.map_err(|_| ApiError::new(ErrorCode::Internal, "The config can't be checked."))?;
    let job = prepared.map_err(|problems| ApiError::config(&problems))?;
    check_kind(&state, &job.kind).await?;
    let waiting = state.database.job_counts().await?;
    let waiting = waiting.iter().filter(|counts| counts.state == JobState::Queued.word()).map(|counts| counts.jobs);
    if waiting.sum::<i64>().unsigned_abs() >= state.config.queue {
        let message = format!("{} jobs wait already.", state.config.queue);
        return Err(ApiError::new(ErrorCode::QueueFull, message).retry_after(30));
    }
    let id = match state.database.submit(&job).await? {
        Submission::New => job.id,
        Submission::Known(id) => id,
        Submission::Conflict => {
            let message = "This Idempotency-Key came with another request before.";
            return Err(ApiError::new(ErrorCode::Conflict, message));
        }
    };
    let details = find(&state.database, &id).await?;
    let details = jobs::details(&state.database, details).await?;
    Ok(HttpResponse::Accepted().insert_header((LOCATION, format!("/api/v1/jobs/{id}"))).json(details))
}

/// Whether some worker takes jobs of this kind.
async fn check_kind(state: &State, kind: &str) -> Result<(), ApiError> {
    let kinds = state.kinds().await?;
    if kinds.iter().any(|known| known == kind) {
        return Ok(());
    }
    let message = match kinds.as_slice() {
        [] => "No worker takes jobs at this time.".to_owned(),
        kinds => format!("No worker has the device `{kind}`; there are {}.", kinds.join(", ")),
    };
    Err(ApiError::new(ErrorCode::InvalidConfig, message))
}

fn idempotency_key(request: &HttpRequest) -> Result<Option<String>, ApiError> {
    const LONGEST: usize = 200;
    let Some(value) = request.headers().get("Idempotency-Key") else { return Ok(None) };
    match value.to_str() {
        Ok(key) if !key.is_empty() && key.len() <= LONGEST => Ok(Some(key.to_owned())),
        _ => {
            let message = format!("An Idempotency-Key has 1 to {LONGEST} visible characters.");
            Err(ApiError::new(ErrorCode::BadRequest, message))
        }
    }
}

/// A request as JSON, as a form with files, or a config as it is.
async fn read_request(request: &HttpRequest, payload: Payload) -> Result<JobRequest, ApiError> {
    if request.content_type() == mime::MULTIPART_FORM_DATA.essence_str() {
        let mut payload = payload.into_inner();
        let form = Pace::new().wait(MultipartForm::<JobForm>::from_request(request, &mut payload)).await?;
        return of_form(form.map_err(|error| body_error(&error))?.into_inner());
    }
    let bytes = read_body(payload, MOST_REQUEST_BYTES).await?;
    let text = utf8(bytes.to_vec())?;
    if request.content_type() == mime::APPLICATION_JSON.essence_str()
        && serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|value| value.get("config").is_some())
    {
        return serde_json::from_str(&text).map_err(|error| {
            ApiError::new(ErrorCode::BadRequest, format!("The request is not as it should be: {error}."))
        });
    }
    let Overrides { file_name, card, device, steps, batch, sequence, priority } = parameters(request.query_string())?;
    Ok(JobRequest { config: text, file_name, training_args: None, card, device, steps, batch, sequence, priority })
}

fn of_form(form: JobForm) -> Result<JobRequest, ApiError> {
    Ok(JobRequest {
        file_name: form.config.file_name,
        config: utf8(form.config.data.to_vec())?,
        training_args: form.training_args.map(|file| utf8(file.data.to_vec())).transpose()?,
        card: form.card.map(Text::into_inner),
        device: form.device.map(Text::into_inner),
        steps: form.steps.map(Text::into_inner),
        batch: form.batch.map(Text::into_inner),
        sequence: form.sequence.map(Text::into_inner),
        priority: form.priority.map(Text::into_inner),
    })
}

/// A body, counted while it comes: the length that it claims proves nothing.
async fn read_body(mut payload: Payload, most_bytes: usize) -> Result<Bytes, ApiError> {
    let mut body = web::BytesMut::new();
    let mut pace = Pace::new();
    while let Some(piece) = pace.wait(payload.next()).await? {
        let piece = piece.map_err(|error| broken_off(&error))?;
        pace.took(piece.len());
        if body.len() + piece.len() > most_bytes {
            let message = format!("The request has more than {} bytes, which no config has.", most_bytes);
            return Err(ApiError::new(ErrorCode::TooLarge, message));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.freeze())
}

fn utf8(bytes: Vec<u8>) -> Result<String, ApiError> {
    String::from_utf8(bytes).map_err(|_| {
        ApiError::new(ErrorCode::BadRequest, "A config is TOML, YAML or JSON in UTF-8, and this is no text.")
    })
}

fn body_error(error: &actix_web::Error) -> ApiError {
    match error.as_error() {
        Some(MultipartError::Field { source, .. }) if source.as_error::<MultipartError>().is_some() => {
            body_error(source)
        }
        Some(MultipartError::Payload(PayloadError::Overflow)) => {
            let message = format!("The form has more than {MOST_REQUEST_BYTES} bytes, which no config has.");
            ApiError::new(ErrorCode::TooLarge, message)
        }
        Some(MultipartError::Payload(error)) => broken_off(error),
        _ => ApiError::new(ErrorCode::BadRequest, format!("The form can't be read: {error}.")),
    }
}

fn broken_off(error: &PayloadError) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, format!("The request broke off: {error}."))
}

/// What part of the list is wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only those in this state.
    state: Option<JobState>,
    /// Only those that are older than this job.
    before: Option<String>,
    /// So many at most, 50 unless said, 200 at most.
    limit: Option<u32>,
}

/// The jobs, the latest first, in parts.
#[utoipa::path(
    get, path = "/api/v1/jobs", operation_id = "list_jobs", tag = "jobs", params(ListQuery),
    responses((status = 200, description = "A part of the list, and where the next begins", body = JobList))
)]
pub(crate) async fn list(request: HttpRequest, state: Data<State>) -> Result<web::Json<JobList>, ApiError> {
    let ListQuery { state: wanted, before, limit } = parameters(request.query_string())?;
    let limit = limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MOST_LIMIT);
    let mut rows = state.database.jobs(&Page { state: wanted, before, limit: limit + 1 }).await?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next = more.then(|| rows.last().map(|row| row.id.clone())).flatten();
    let mut jobs = Vec::new();
    for row in rows {
        jobs.push(jobs::resource(&state.database, row).await?);
    }
    Ok(web::Json(JobList { jobs, next }))
}

/// A job.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}", operation_id = "get_job", tag = "jobs",
    params(("id" = String, Path, description = "The job's `id`")),
    responses((status = 200, description = "Where it is in its life", body = JobDetails))
)]
pub(crate) async fn get(id: Path<String>, state: Data<State>) -> Result<web::Json<JobDetails>, ApiError> {
    let row = find(&state.database, &id).await?;
    Ok(web::Json(jobs::details(&state.database, row).await?))
}

/// Cancels a job that waits or runs.
///
/// One that runs is `cancelled` once its recorder has ended; one that is over stays as it is.
#[utoipa::path(
    post, path = "/api/v1/jobs/{id}/cancel", operation_id = "cancel_job", tag = "jobs", security(("token" = [])),
    params(("id" = String, Path, description = "The job's `id`")),
    responses((status = 200, description = "Where it is now", body = JobResource))
)]
pub(crate) async fn cancel(id: Path<String>, state: Data<State>) -> Result<web::Json<JobResource>, ApiError> {
    state.database.cancel(&id).await?;
    let row = find(&state.database, &id).await?;
    Ok(web::Json(jobs::resource(&state.database, row).await?))
}

async fn find(database: &Database, id: &str) -> Result<JobRow, ApiError> {
    database
        .job(id)
        .await?
        .ok_or_else(|| ApiError::not_found("There is no such job; jobs are forgotten after some time."))
}

/// The snapshot of a finished job, compressed as it is stored.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/snapshot", operation_id = "get_job_snapshot", tag = "jobs",
    params(("id" = String, Path, description = "The job's `id`")),
    responses((
        status = 200, description = "PyTorch's official pickle, compressed with gzip", content_type = "application/gzip",
        body = Vec<u8>
    ))
)]
pub(crate) async fn snapshot(id: Path<String>, state: Data<State>) -> Result<HttpResponse, ApiError> {
    let row = find(&state.database, &id).await?;
    let Some(hash) = &row.snapshot else {
        return Err(ApiError::not_found(format!("This job is {} and has no snapshot.", row.state)));
    };
    let stored = state.database.snapshot(hash).await?.ok_or_else(|| ApiError::not_found("The snapshot is gone."))?;
    send(&state, &stored.object, &format!("{}.pickle.gz", file_name(&row.name))).await
}

/// Streams an object as a file to save.
pub(crate) async fn send(state: &State, object: &str, file_name: &str) -> Result<HttpResponse, ApiError> {
    let (bytes, stream) = state.store.read(object).await?;
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "application/gzip"))
        .insert_header((CONTENT_LENGTH, bytes))
        // The content is compressed already; whoever saves it gets the same file.
        .insert_header((CONTENT_ENCODING, "identity"))
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{file_name}\"")))
        .insert_header((CACHE_CONTROL, "private, max-age=3600, immutable"))
        .streaming(stream.map(|piece| piece.map_err(|error| std::io::Error::other(error.to_string())))))
}

/// A name that any system takes.
pub(crate) fn file_name(name: &str) -> String {
    const LONGEST: usize = 60;
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' });
    let plain: String = plain.take(LONGEST).collect();
    let plain = plain.trim_matches(['.', '-']);
    if plain.is_empty() { "snapshot".to_owned() } else { plain.to_owned() }
}

/// What happens to a job, as server-sent events until it is over.
///
/// The `data` of each is a `JobEvent`, its `id` counts from 1; `Last-Event-ID` goes on after that one.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}/events", operation_id = "watch_job", tag = "jobs",
    params(
        ("id" = String, Path, description = "The job's `id`"),
        ("Last-Event-ID" = Option<i64>, Header, description = "The `id` of the last event that was seen")
    ),
    responses((
        status = 200, description = "A stream", content_type = "text/event-stream", body = String
    ))
)]
pub(crate) async fn events(
    request: HttpRequest,
    id: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    find(&state.database, &id).await?;
    let last = request.headers().get("Last-Event-ID").and_then(|value| value.to_str().ok()?.parse().ok());
    let watch = Watch {
        database: state.database.clone(),
        job: id.into_inner(),
        last: last.unwrap_or(0),
        silent: 0,
        over: false,
    };
    Ok(HttpResponse::Ok()
        .insert_header(ContentType(mime::TEXT_EVENT_STREAM))
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header(("X-Accel-Buffering", "no"))
        .streaming(watch.stream()))
}

/// Where a stream of events is.
struct Watch {
    database: Database,
    job: String,
    last: i64,
    silent: u32,
    over: bool,
}

impl Watch {
    /// Pieces of the stream until the job is over; a database that is away for a moment only delays them.
    fn stream(self) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
        stream::unfold(self, |mut watch| async move {
            if watch.over {
                return None;
            }
            let piece = watch.next().await;
            Some((Ok(piece), watch))
        })
    }

    async fn next(&mut self) -> Bytes {
        loop {
            if let Ok(events) = self.database.events_after(&self.job, self.last, MOST_EVENTS).await
                && let Some(last) = events.last()
            {
                self.last = last.sequence;
                self.silent = 0;
                self.over = is_end(last);
                return events.iter().map(written).collect::<String>().into();
            }
            self.silent += 1;
            if self.silent.is_multiple_of(KEEP_ALIVE_LOOKS) {
                // A job that was forgotten has no more events.
                self.over = matches!(self.database.job(&self.job).await, Ok(None));
                return Bytes::from_static(b": still here\n\n");
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Whether nothing comes after an event.
fn is_end(event: &Event) -> bool {
    matches!(
        serde_json::from_str(&event.body),
        Ok(JobEvent::State { state }) if state.is_over()
    )
}

/// An event as the HTML standard has it.
fn written(event: &Event) -> String {
    format!("id: {}\ndata: {}\n\n", event.sequence, event.body)
}
