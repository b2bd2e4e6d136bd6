//! Whether the process answers at all, and whether it can do its work.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, ContentType};
use actix_web::web::Data;

use crate::serve::state::State;

/// Answers `ok` as long as requests are handled.
pub(crate) async fn healthz() -> HttpResponse {
    text(StatusCode::OK, "ok\n")
}

/// Answers `ok` as long as database and store do; which of them does not is in the log and not for everybody.
pub(crate) async fn readyz(state: Data<State>) -> HttpResponse {
    let database = state.database.ping().await.map_err(|error| error.to_string());
    let store = state.store.ping().await.map_err(|error| error.to_string());
    match database.and(store) {
        Ok(()) => text(StatusCode::OK, "ok\n"),
        Err(error) => {
            tracing::error!(error, "not ready");
            text(StatusCode::SERVICE_UNAVAILABLE, "The database or the store does not answer.\n")
        }
    }
}

fn text(status: StatusCode, body: &'static str) -> HttpResponse {
    HttpResponse::build(status)
        .insert_header(ContentType::plaintext())
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(body)
}
