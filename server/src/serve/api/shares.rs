//! Handles `shares`, the links to snapshots.

use actix_web::http::header::{CACHE_CONTROL, ContentType};
use actix_web::web::{Bytes, Data, Json, Path, Payload};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use futures_util::stream::StreamExt as _;
use shared::api::{ErrorCode, ServerLimits, ShareCreated, ShareResource};
use shared::report::Diagnosis;
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt as _;
use tracing::error;

use super::jobs::{content, send};
use super::share_form::{self, Parts, ShareForm, count_kept, crowded, title};
use crate::database::{NewShare, ShareRow};
use crate::serve::asset::tagged;
use crate::serve::error::ApiError;
use crate::serve::session::bearer;
use crate::serve::state::State;
use crate::shares::{DigestError, Token, days_of, digest_of, expires_ms, hash_of};
use crate::snapshots;

/// Returns the limits of this server.
#[utoipa::path(
    get, path = "/api/v1/limits", operation_id = "get_limits", tag = "catalog",
    responses((status = 200, description = "Limits on jobs and links", body = ServerLimits))
)]
pub(crate) async fn limits(request: HttpRequest, state: Data<State>) -> Result<Json<ServerLimits>, ApiError> {
    let shares = &state.config.shares;
    let devices = state.devices().await?;
    Ok(Json(ServerLimits {
        upload_bytes: shares.upload_bytes,
        share_days: days_of(shares.longest),
        share_for_ever: shares.longest.is_none(),
        needs_token: state.guard.needs_token(&request),
        kinds: devices.kinds(),
        problems: devices.problems,
        is_recorder_being_built: state.config.recorder.is_being_built(),
    }))
}

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
    let Parts { view, file, hash, bytes, place: _place } = share_form::read(&request, payload, &state).await?;
    let expires_ms = expires_ms(view.days, state.config.shares.longest).map_err(|most| {
        let message = format!("On this server, a link may live for at most {most} days.");
        ApiError::new(ErrorCode::BadRequest, message)
    })?;
    let in_line = state.digester.line_up(bytes).ok_or_else(crowded)?;
    let digest = state.digester.digest(file.path(), bytes).await.map_err(digest_error)?;
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

/// Returns the findings of a link's snapshot, as `snapscope diagnose --json` reports them.
#[utoipa::path(
    get, path = "/api/v1/shares/{token}/findings", operation_id = "get_share_findings", tag = "shares",
    params(("token" = String, Path, description = "The link's `token`")),
    responses(
        (status = 200, description = "Findings, the most important first, and memory that grows", body = Diagnosis),
        (status = 304, description = "The findings have the tag in `If-None-Match`"),
    )
)]
pub(crate) async fn findings(
    request: HttpRequest,
    token: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    let row = find(&state, &token).await?;
    // Another version may find something else.
    let tag = format!("\"{}-{}\"", row.snapshot, env!("CARGO_PKG_VERSION"));
    let (mut response, unchanged) = tagged(request.headers(), &tag, "private, no-cache");
    if unchanged {
        return Ok(response.finish());
    }
    response.insert_header(ContentType::json());
    if let Some(found) = state.findings.get(&tag) {
        return answer(response, found);
    }
    let client = state.counted_client(&request);
    let _seat = client.map(|client| state.diagnosing.take(Some(client)).ok_or_else(crowded)).transpose()?;
    let bytes = row.stored_bytes.try_into().unwrap_or(u64::MAX);
    let _in_line = state.digester.line_up(bytes).ok_or_else(crowded)?;
    let _turn = state.digester.turn(bytes).await.map_err(digest_error)?;
    // Another request may have found the same in the meantime.
    if let Some(found) = state.findings.get(&tag) {
        return answer(response, found);
    }
    let file = fetch(&state, &row.object).await?;
    let found = match state.digester.diagnose(file.path(), bytes).await {
        Ok(diagnosis) => serde_json::to_vec(&diagnosis).expect("plain data can be written"),
        // An empty answer says that it was too much.
        Err(DigestError::TooMuch) => Vec::new(),
        Err(error) => return Err(digest_error(error)),
    };
    let found = Bytes::from(found);
    state.findings.keep(&tag, found.clone());
    answer(response, found)
}

fn answer(mut response: HttpResponseBuilder, found: Bytes) -> Result<HttpResponse, ApiError> {
    if found.is_empty() { Err(digest_error(DigestError::TooMuch)) } else { Ok(response.body(found)) }
}

/// Copies an object of the store to a file, for a process that reads it within limits.
async fn fetch(state: &State, object: &str) -> Result<NamedTempFile, ApiError> {
    let (_, mut pieces) = content(state, object).await?;
    let file = NamedTempFile::new_in(state.worker.scratch())?;
    let mut out = tokio::fs::File::from_std(file.reopen()?);
    while let Some(piece) = pieces.next().await {
        out.write_all(&piece?).await?;
    }
    out.flush().await?;
    Ok(file)
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
