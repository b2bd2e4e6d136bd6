//! Whether the process answers at all.

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, ContentType};

/// Answers `ok` as long as requests are handled.
pub(crate) async fn healthz() -> HttpResponse {
    HttpResponse::Ok().insert_header(ContentType::plaintext()).insert_header((CACHE_CONTROL, "no-store")).body("ok\n")
}
