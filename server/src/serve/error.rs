//! The one table of errors, and the envelope in which they travel.

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CACHE_CONTROL, ContentType};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;

/// Everything that a request can be refused for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorCode {
    /// No resource has this path.
    NotFound,
    /// The resource is there, but not for this method.
    MethodNotAllowed,
}

impl ErrorCode {
    /// The name in the envelope, the status and the hint.
    const fn row(self) -> (&'static str, StatusCode, &'static str) {
        match self {
            Self::NotFound => ("not_found", StatusCode::NOT_FOUND, "Check the address; the page itself is at /."),
            Self::MethodNotAllowed => {
                ("method_not_allowed", StatusCode::METHOD_NOT_ALLOWED, "Ask with a method named in the Allow header.")
            }
        }
    }
}

/// The body of every refusal under `/api/`.
#[derive(Serialize)]
struct Envelope<'a> {
    code: &'a str,
    message: &'a str,
    hint: &'a str,
}

/// A refusal for a program: JSON.
pub(crate) fn refuse_api(code: ErrorCode, message: &str) -> HttpResponse {
    let (name, status, hint) = code.row();
    HttpResponse::build(status).insert_header((CACHE_CONTROL, "no-store")).json(Envelope { code: name, message, hint })
}

/// A refusal for a person: two lines of text.
pub(crate) fn refuse_page(code: ErrorCode, message: &str) -> HttpResponse {
    let (_, status, hint) = code.row();
    let mut response = HttpResponse::build(status);
    response.insert_header((CACHE_CONTROL, "no-store")).insert_header(ContentType::plaintext());
    if code == ErrorCode::MethodNotAllowed {
        response.insert_header((ALLOW, "GET, HEAD"));
    }
    response.body(format!("{message}\n{hint}\n"))
}

/// Answers for every path under `/api/` that no route claims.
pub(crate) async fn unknown_resource(request: HttpRequest) -> HttpResponse {
    refuse_api(ErrorCode::NotFound, &format!("There is no resource at {}.", request.path()))
}
