//! Handles `shares`, the links to snapshots.

use std::future::ready;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::error::PayloadError;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_LENGTH};
use actix_web::web::{Data, Json, Path, Payload};
use actix_web::{FromRequest as _, HttpMessage as _, HttpRequest, HttpResponse};
use futures_util::stream::{Stream, StreamExt as _};
use shared::api::{ServerLimits, ShareCreated, ShareRequest, ShareResource, SnapshotDigest};
use shared::base::markup::turns_direction;
use tempfile::NamedTempFile;
use tracing::error;
use utoipa::ToSchema;

use super::jobs::send;
use crate::database::{NewShare, ShareRow};
use crate::serve::error::{ApiError, ErrorCode};
use crate::serve::guard::Client;
use crate::serve::pace::Pace;
use crate::serve::session::bearer;
use crate::serve::state::State;
use crate::shares::{DigestError, Place, Token, Upload, UploadError, days_of, expires_ms, hash_of};
use crate::snapshots;

/// Maximum size of the form's part `view`: a title and the state of a page.
const MOST_VIEW_BYTES: usize = 64 << 10;

/// Maximum length of a title, in characters.
const MOST_TITLE: usize = 200;

/// Returns the limits of this server.
#[utoipa::path(
    get, path = "/api/v1/limits", operation_id = "get_limits", tag = "catalog",
    responses((status = 200, description = "Limits on jobs and links", body = ServerLimits))
)]
pub(crate) async fn limits(request: HttpRequest, state: Data<State>) -> Result<Json<ServerLimits>, ApiError> {
    let shares = &state.config.shares;
    Ok(Json(ServerLimits {
        upload_bytes: shares.upload_bytes,
        share_days: days_of(shares.longest),
        share_for_ever: shares.longest.is_none(),
        needs_token: state.guard.needs_token(&request),
        kinds: state.kinds().await?,
        is_recorder_being_built: state.config.recorder.is_being_built(),
    }))
}

/// A form with a snapshot.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the parts are read one by one; this is for the document")]
pub(crate) struct ShareForm {
    /// Properties of the link, as JSON.
    view: ShareRequest,
    /// PyTorch's official pickle, compressed with gzip.
    #[schema(format = Binary)]
    snapshot: String,
}

/// The parts of an upload.
struct Parts {
    view: ShareRequest,
    file: NamedTempFile,
    hash: String,
    bytes: u64,
    /// Reservation of disk space for the upload.
    place: Place,
}

/// Retry time for clients that are refused because of other uploads, in seconds.
const AGAIN_SECONDS: u64 = 10;

/// Makes a link to a snapshot.
///
/// The response is sent once the snapshot is stored completely.
#[utoipa::path(
    post, path = "/api/v1/shares", operation_id = "share", tag = "shares", security(("token" = [])),
    request_body(content = ShareForm, content_type = "multipart/form-data"),
    responses((status = 201, description = "The link and its deletion token", body = ShareCreated))
)]
pub(crate) async fn share(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    let form = form_of(&request, payload).await?;
    let Parts { view, file, hash, bytes, place: _place } = read_form(form, &request, &state).await?;
    let expires_ms = expires_ms(view.days, state.config.shares.longest)
        .map_err(|most| bad(format!("On this server, a link may live for at most {most} days.")))?;
    let in_line = state.digester.line_up(bytes).ok_or_else(crowded)?;
    let digest = state.digester.digest(file.path()).await.map_err(digest_error)?;
    drop(in_line);
    snapshots::keep(&state.database, &state.store, file.path(), &hash).await?;
    count_kept(&state).await?;
    let (token, delete_token) = (Token::random()?, Token::random()?);
    let new = NewShare {
        token_hash: token.hash,
        delete_hash: delete_token.hash,
        snapshot: hash,
        title: title(&view.title),
        view_state: view.view_state,
        digest: serde_json::to_string(&digest).expect("plain data can be written"),
        expires_ms,
    };
    if !state.database.share(&new).await? {
        let message = "The snapshot was removed before the link was made.";
        return Err(ApiError::new(ErrorCode::Unavailable, message).retry_after(1));
    }
    Ok(HttpResponse::Created().insert_header((CACHE_CONTROL, "no-store")).json(ShareCreated {
        token: token.text,
        delete_token: delete_token.text,
        expires_ms,
    }))
}

/// Returns the body as a form; any other body is read to its end, so that the client receives the refusal.
async fn form_of(request: &HttpRequest, payload: Payload) -> Result<Multipart, ApiError> {
    let is_form = request.mime_type().ok().flatten().is_some_and(|mime| {
        mime.type_() == "multipart" && mime.get_param("boundary").is_some_and(|boundary| !boundary.as_str().is_empty())
    });
    if !is_form {
        Pace::new().drain(payload).await;
        return Err(bad("The request is not a form: its Content-Type must be multipart/form-data with a boundary."));
    }
    let form = Multipart::from_request(request, &mut payload.into_inner()).await;
    form.map_err(|error| bad(format!("The request is not a form: {error}.")))
}

/// Returns the fields of a form up to the first error, because `Multipart` panics if polled after one.
fn until_error(form: Multipart) -> impl Stream<Item = Result<Field, MultipartError>> + Unpin {
    form.scan(false, |has_failed, field| {
        let next = (!*has_failed).then_some(field);
        *has_failed = next.as_ref().is_some_and(Result::is_err);
        ready(next)
    })
    .fuse()
}

async fn read_form(form: Multipart, request: &HttpRequest, state: &State) -> Result<Parts, ApiError> {
    let mut pace = Pace::new();
    let mut form = until_error(form);
    let parts = match hold_room(request, state).await {
        Ok(place) => read_parts(&mut form, &mut pace, place, state).await,
        Err(refusal) => Err(refusal),
    };
    if parts.is_err() {
        pace.drain(form).await;
    }
    parts
}

/// Reserves space for an upload before any of it is read.
async fn hold_room(request: &HttpRequest, state: &State) -> Result<Place, ApiError> {
    let most_bytes = most_bytes(request, state.config.shares.upload_bytes);
    // If the queue is full already, the upload is not read at all.
    drop(state.digester.line_up(most_bytes).ok_or_else(crowded)?);
    // Without a submission limit, as behind an untrusted proxy, uploads are not counted per client.
    let client = request.extensions().get::<Client>().map(|client| client.0);
    let client = client.filter(|_| state.config.submissions.is_some());
    let Some((place, holding)) = state.room.hold(client, most_bytes) else {
        let message = "This address has reached its limit of simultaneous uploads.";
        return Err(ApiError::new(ErrorCode::TooManyRequests, message).retry_after(AGAIN_SECONDS));
    };
    // A request that breaks off while it awaits something other than its body gets no response. Therefore the database
    // is queried only if the upload may be refused, and otherwise the last known usage is used; storing the snapshot
    // checks the quota again.
    let is_beyond = |kept_bytes: u64| kept_bytes.saturating_add(holding.bytes) > state.config.shares.quota_bytes;
    if is_beyond(state.room.kept_bytes()) && is_beyond(count_kept(state).await?) {
        let message = "The quota of the store is used up, counting the uploads in progress.";
        return Err(ApiError::new(ErrorCode::NoRoom, message));
    }
    if free_bytes(state.worker.scratch()) < holding.unwritten_bytes {
        return Err(ApiError::new(ErrorCode::NoRoom, "The server's disk has no space for this upload."));
    }
    Ok(place)
}

/// Queries the usage in bytes and remembers it.
async fn count_kept(state: &State) -> Result<u64, ApiError> {
    let bytes = state.database.used_bytes().await?;
    state.room.note_kept(bytes);
    Ok(bytes)
}

/// Returns the maximum size of an upload: the declared length, which it cannot exceed, or the limit.
fn most_bytes(request: &HttpRequest, limit_bytes: u64) -> u64 {
    let claimed = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    claimed.map_or(limit_bytes, |claimed: u64| claimed.min(limit_bytes))
}

/// Returns the free bytes on a folder's disk; if unknown, the maximum, so that writing reports the error.
fn free_bytes(folder: &std::path::Path) -> u64 {
    rustix::fs::statvfs(folder).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

async fn read_parts(
    form: &mut (impl Stream<Item = Result<Field, MultipartError>> + Unpin),
    pace: &mut Pace,
    mut place: Place,
    state: &State,
) -> Result<Parts, ApiError> {
    let (mut view, mut snapshot) = (None, None);
    while let Some(field) = pace.wait(form.next()).await? {
        let field = field.map_err(|error| match error {
            MultipartError::Payload(PayloadError::Overflow) => bad("The form can't be read: no part starts in it."),
            MultipartError::Payload(error) => broken_off(&error),
            error => bad(format!("The form can't be read: {error}.")),
        })?;
        match field.name() {
            Some("view") if view.is_none() => view = Some(read_view(field, pace).await?),
            Some("snapshot") if snapshot.is_none() => {
                snapshot = Some(read_snapshot(field, pace, &mut place, state).await?);
            }
            Some(name @ ("view" | "snapshot")) => return Err(bad(format!("The form has the part `{name}` twice."))),
            name => {
                let name: String = name.unwrap_or_default().chars().take(MOST_TITLE).collect();
                return Err(bad(format!(
                    "The form has an unknown part `{name}`; the parts are `view` and `snapshot`."
                )));
            }
        }
    }
    let Some((file, hash, bytes)) = snapshot else { return Err(bad("The form has no part `snapshot`.")) };
    Ok(Parts { view: view.unwrap_or_default(), file, hash, bytes, place })
}

async fn read_view(mut field: Field, pace: &mut Pace) -> Result<ShareRequest, ApiError> {
    let mut bytes = Vec::new();
    while let Some(piece) = pace.wait(field.next()).await? {
        let piece = piece.map_err(|error| broken_off(&error))?;
        pace.took(piece.len());
        bytes.extend_from_slice(&piece);
        if bytes.len() > MOST_VIEW_BYTES {
            let message = format!("The part `view` has more than {MOST_VIEW_BYTES} bytes.");
            return Err(ApiError::new(ErrorCode::TooLarge, message));
        }
    }
    serde_json::from_slice(&bytes).map_err(|error| bad(format!("The part `view` is not valid: {error}.")))
}

async fn read_snapshot(
    mut field: Field,
    pace: &mut Pace,
    place: &mut Place,
    state: &State,
) -> Result<(NamedTempFile, String, u64), ApiError> {
    let most_bytes = state.config.shares.upload_bytes;
    let mut upload = Upload::start(state.worker.scratch(), most_bytes)?;
    while let Some(piece) = pace.wait(field.next()).await? {
        let piece = piece.map_err(|error| broken_off(&error))?;
        pace.took(piece.len());
        upload.push(&piece).await.map_err(|error| upload_error(error, most_bytes))?;
        place.wrote(piece.len() as u64);
    }
    upload.finish().await.map_err(|error| upload_error(error, most_bytes))
}

/// Returns a link: its title, the view to restore, and the figures of its snapshot.
#[utoipa::path(
    get, path = "/api/v1/shares/{token}", operation_id = "get_share", tag = "shares",
    params(("token" = String, Path, description = "The link's `token`")),
    responses((status = 200, description = "The link", body = ShareResource))
)]
pub(crate) async fn get(token: Path<String>, state: Data<State>) -> Result<Json<ShareResource>, ApiError> {
    let row = find(&state, &token).await?;
    Ok(Json(ShareResource {
        digest: digest_of(&row),
        title: row.title,
        view_state: row.view_state,
        snapshot_bytes: row.stored_bytes.try_into().unwrap_or(0),
        created_ms: row.created_ms,
        expires_ms: row.expires_ms,
    }))
}

/// Returns the snapshot of a link, compressed as uploaded.
#[utoipa::path(
    get, path = "/api/v1/shares/{token}/snapshot", operation_id = "get_share_snapshot", tag = "shares",
    params(("token" = String, Path, description = "The link's `token`")),
    responses(
        (status = 200, description = "PyTorch's official pickle, compressed with gzip", content_type = "application/gzip",
            body = Vec<u8>),
        (status = 304, description = "The snapshot has the tag in `If-None-Match`"),
    )
)]
pub(crate) async fn snapshot(
    request: HttpRequest,
    token: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    let row = find(&state, &token).await?;
    send(&request, &state, (&row.snapshot, &row.object), &row.title).await
}

/// Deletes a link with its deletion token, sent as `Authorization: Bearer`.
#[utoipa::path(
    delete, path = "/api/v1/shares/{token}", operation_id = "delete_share", tag = "shares",
    security(("delete_token" = [])), params(("token" = String, Path, description = "The link's `token`")),
    responses((status = 204, description = "The link was deleted"))
)]
pub(crate) async fn delete(
    request: HttpRequest,
    token: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    let Some(sent) = bearer(request.headers()) else {
        let message = "Deleting a link requires its deletion token.";
        return Err(ApiError::new(ErrorCode::Unauthorized, message));
    };
    if state.database.unshare(&hash_of(&token), &hash_of(sent.trim())).await? {
        return Ok(HttpResponse::NoContent().finish());
    }
    // A missing link and a wrong deletion token give the same answer.
    Err(ApiError::not_found("There is no such link, or this token does not delete it."))
}

/// Reads the link of a token, or fails with "not found".
pub(crate) async fn find(state: &State, token: &str) -> Result<ShareRow, ApiError> {
    let row = state.database.shared(&hash_of(token)).await?;
    row.ok_or_else(|| ApiError::not_found("There is no such link: it has expired, was deleted, or is mistyped."))
}

/// Returns the figures of a link's snapshot.
pub(crate) fn digest_of(row: &ShareRow) -> SnapshotDigest {
    // Figures of an older version that can no longer be parsed are shown as unknown.
    serde_json::from_str(&row.digest).unwrap_or_default()
}

/// Reduces a title to one line of limited length, without characters that change the direction of following text.
fn title(text: &str) -> String {
    let letters = text.chars().filter(|c| !turns_direction(*c)).map(|c| if c.is_control() { ' ' } else { c });
    let line: String = letters.take(MOST_TITLE).collect();
    let line = line.trim();
    if line.is_empty() { "Snapshot".to_owned() } else { line.to_owned() }
}

fn bad(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, message)
}

fn crowded() -> ApiError {
    let message = "Too many uploads are waiting to be read.";
    ApiError::new(ErrorCode::TooManyRequests, message).retry_after(AGAIN_SECONDS)
}

fn broken_off(error: &dyn std::fmt::Display) -> ApiError {
    bad(format!("The upload was interrupted: {error}."))
}

fn upload_error(error: UploadError, most_bytes: u64) -> ApiError {
    match error {
        UploadError::TooLarge => {
            let size = shared::base::format::bytes(most_bytes);
            ApiError::new(ErrorCode::TooLarge, format!("The snapshot exceeds the {size} that this server accepts."))
        }
        UploadError::NotGzip => ApiError::new(ErrorCode::InvalidSnapshot, "The snapshot is not compressed with gzip."),
        UploadError::Io(error) => error.into(),
    }
}

fn digest_error(digest: DigestError) -> ApiError {
    match digest {
        DigestError::NotASnapshot(message) => ApiError::new(ErrorCode::InvalidSnapshot, format!("{message}.")),
        DigestError::TooMuch => {
            let message = "The snapshot takes more memory or time to read than this server allows.";
            ApiError::new(ErrorCode::TooLarge, message)
        }
        DigestError::Failed(message) => {
            error!(message, "a shared snapshot can't be read");
            ApiError::new(ErrorCode::Internal, "The snapshot can't be read.")
        }
    }
}
