//! Reads the form of a new link: its view and its snapshot.

use std::future::ready;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::error::PayloadError;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::Payload;
use actix_web::{FromRequest as _, HttpMessage as _, HttpRequest};
use futures_util::stream::{Stream, StreamExt as _};
use shared::api::{ErrorCode, ShareRequest};
use shared::base::format::bytes;
use shared::base::markup::deceives;
use tempfile::NamedTempFile;
use utoipa::ToSchema;

use crate::serve::error::ApiError;
use crate::serve::pace::Pace;
use crate::serve::state::State;
use crate::shares::{Place, Upload, UploadError, free_bytes};

/// Maximum size of the form's part `view`: a title and the state of a page.
const MOST_VIEW_BYTES: usize = 64 << 10;

/// Maximum length of a title, in characters.
const MOST_TITLE: usize = 200;

/// Retry time for clients that are refused because of other uploads, in seconds.
const AGAIN_SECONDS: u64 = 10;

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

pub(super) struct Parts {
    pub(super) view: ShareRequest,
    pub(super) file: NamedTempFile,
    pub(super) hash: String,
    pub(super) bytes: u64,
    /// Reservation of disk space for the upload.
    pub(super) place: Place,
}

/// Reads the form of a new link; space for its snapshot is reserved first.
pub(super) async fn read(request: &HttpRequest, payload: Payload, state: &State) -> Result<Parts, ApiError> {
    let form = form_of(request, payload).await?;
    read_form(form, request, state).await
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
    let Some((place, holding)) = state.room.hold(state.counted_client(request), most_bytes) else {
        let message = "This address has reached its limit of simultaneous uploads.";
        return Err(ApiError::new(ErrorCode::TooManyRequests, message).retry_after(AGAIN_SECONDS));
    };
    // Slow uploads must not take the room of everybody else.
    if holding.others_of_client_bytes > 0
        && (holding.others_of_client_bytes + most_bytes) * 2 > state.config.shares.quota_bytes
    {
        let message = "The uploads of this address in progress may become half of the store's quota.";
        return Err(ApiError::new(ErrorCode::TooManyRequests, message).retry_after(AGAIN_SECONDS));
    }
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
pub(super) async fn count_kept(state: &State) -> Result<u64, ApiError> {
    let bytes = state.database.used_bytes().await?;
    state.room.note_kept(bytes);
    Ok(bytes)
}

/// Returns the maximum size of an upload: the declared length, which it cannot exceed, or the limit.
fn most_bytes(request: &HttpRequest, limit_bytes: u64) -> u64 {
    let claimed = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    claimed.map_or(limit_bytes, |claimed: u64| claimed.min(limit_bytes))
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

/// Reduces a title to one line of limited length, without characters that deceive.
pub(super) fn title(text: &str) -> String {
    let letters = text.chars().filter(|c| !deceives(*c)).map(|c| if c.is_control() { ' ' } else { c });
    let line: String = letters.take(MOST_TITLE).collect();
    let line = line.trim();
    if line.is_empty() { "Snapshot".to_owned() } else { line.to_owned() }
}

fn bad(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, message)
}

pub(super) fn crowded() -> ApiError {
    let message = "Too many snapshots are waiting to be read.";
    ApiError::new(ErrorCode::TooManyRequests, message).retry_after(AGAIN_SECONDS)
}

fn broken_off(error: &dyn std::fmt::Display) -> ApiError {
    bad(format!("The upload was interrupted: {error}."))
}

fn upload_error(error: UploadError, most_bytes: u64) -> ApiError {
    match error {
        UploadError::TooLarge => {
            let size = bytes(most_bytes);
            ApiError::new(ErrorCode::TooLarge, format!("The snapshot exceeds the {size} that this server accepts."))
        }
        UploadError::NotGzip => ApiError::new(ErrorCode::InvalidSnapshot, "The snapshot is not compressed with gzip."),
        UploadError::Io(error) => error.into(),
    }
}
