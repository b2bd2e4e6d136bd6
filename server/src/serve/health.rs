//! Handles the health checks.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, ContentType};
use actix_web::web::Data;

use tokio::time::timeout;

use crate::serve::state::State;

/// Timeout of the database and the store, short because health checks need a prompt answer.
const PATIENCE: Duration = Duration::from_secs(4);

/// Returns `ok` while the process handles requests.
#[utoipa::path(
    get, path = "/healthz", tag = "operations",
    responses((status = 200, description = "The process handles requests", body = String))
)]
pub(crate) async fn healthz() -> HttpResponse {
    text(StatusCode::OK, "ok\n")
}

/// Returns `ok` while the database and the store respond and the store takes objects; if not, the log says which.
#[utoipa::path(
    get, path = "/readyz", tag = "operations",
    responses(
        (status = 200, description = "The database and the store respond, and the store takes objects", body = String),
        (status = 503, description = "The database or the store does not respond", body = String)
    )
)]
pub(crate) async fn readyz(state: Data<State>) -> HttpResponse {
    let ping = async {
        state.database.ping().await.map_err(|error| error.to_string())?;
        state.store.ping().await.map_err(|error| error.to_string())?;
        state.store_is_writable().await
    };
    let answer = timeout(PATIENCE, ping).await.unwrap_or_else(|_| Err(format!("no response within {PATIENCE:?}")));
    match answer {
        Ok(()) => text(StatusCode::OK, "ok\n"),
        Err(error) => {
            tracing::error!(error, "not ready");
            text(StatusCode::SERVICE_UNAVAILABLE, "The database or the store does not respond.\n")
        }
    }
}

fn text(status: StatusCode, body: &'static str) -> HttpResponse {
    HttpResponse::build(status)
        .insert_header(ContentType::plaintext())
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(body)
}
