//! Defines all API errors and the JSON body that carries them.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CACHE_CONTROL, ContentType, HeaderValue, RETRY_AFTER};
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use shared::api::{ErrorBody, ErrorCode, ProblemBody};
use shared::job::Problem;
use tracing::error;

use crate::database::DatabaseError;
use crate::serve::request_id::RequestId;
use crate::snapshots::SnapshotError;
use crate::store::{StoreError, StoreErrorKind};

pub(crate) fn status(code: ErrorCode) -> StatusCode {
    StatusCode::from_u16(code.answer().0).expect("the table has statuses of HTTP")
}

/// A refusal with a JSON body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    code: ErrorCode,
    message: String,
    problems: Vec<ProblemBody>,
    retry_after_s: Option<u64>,
}

impl ApiError {
    /// Makes a refusal with a sentence on what happened.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), problems: Vec::new(), retry_after_s: None }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// Sets the time after which the request may be repeated, in seconds.
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after_s: Some(seconds), ..self }
    }

    /// Makes the refusal of a config, with all of its problems.
    pub(crate) fn config(problems: &[Problem]) -> Self {
        let body = |problem: &Problem| ProblemBody {
            path: problem.path.clone(),
            line: problem.place.and_then(|place| place.line.try_into().ok()),
            column: problem.place.and_then(|place| place.column.try_into().ok()),
            message: problem.message.clone(),
            hint: problem.hint.clone(),
        };
        let message = match problems {
            // A problem may end with a question, such as "did you mean ...?".
            [one] => match one.to_string() {
                question if question.ends_with('?') => format!("The config can't be recorded: {question}"),
                text => format!("The config can't be recorded: {text}."),
            },
            more => format!("The config can't be recorded: it has {} problems.", more.len()),
        };
        Self { problems: problems.iter().map(body).collect(), ..Self::new(ErrorCode::InvalidConfig, message) }
    }

    pub(crate) fn body(&self) -> ErrorBody {
        ErrorBody {
            code: self.code.to_string(),
            message: self.message.clone(),
            hint: self.code.answer().1.to_owned(),
            problems: self.problems.clone(),
            request_id: RequestId::current(),
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        status(self.code)
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status_code());
        response.insert_header((CACHE_CONTROL, "no-store"));
        if let Some(seconds) = self.retry_after_s {
            response.insert_header((RETRY_AFTER, seconds));
        }
        response.json(self.body())
    }
}

impl From<DatabaseError> for ApiError {
    fn from(error: DatabaseError) -> Self {
        error!(%error, "a request failed");
        match error.is_full() {
            true => Self::new(ErrorCode::NoRoom, "The database has no space left."),
            false => Self::new(ErrorCode::Unavailable, "The database does not respond.").retry_after(2),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        error!(%error, "a request failed");
        match error.kind() {
            StoreErrorKind::Full => Self::new(ErrorCode::NoRoom, "The store has no space left."),
            _ => Self::new(ErrorCode::Unavailable, "The store does not respond.").retry_after(2),
        }
    }
}

impl From<SnapshotError> for ApiError {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Database(error) => error.into(),
            SnapshotError::Store(error) => error.into(),
            SnapshotError::Full => Self::new(ErrorCode::NoRoom, "The quota of the store is used up."),
        }
    }
}

impl From<std::io::Error> for ApiError {
    fn from(error: std::io::Error) -> Self {
        StoreError::from(error).into()
    }
}

/// Builds a refusal as JSON, for programs.
pub(crate) fn refuse_api(code: ErrorCode, message: &str) -> HttpResponse {
    ApiError::new(code, message).error_response()
}

/// Builds a refusal as two lines of text, for people.
pub(crate) fn refuse_page(code: ErrorCode, message: &str) -> HttpResponse {
    let hint = code.answer().1;
    let mut response = HttpResponse::build(status(code));
    response.insert_header((CACHE_CONTROL, "no-store")).insert_header(ContentType::plaintext());
    if code == ErrorCode::MethodNotAllowed {
        response.insert_header((ALLOW, "GET, HEAD"));
    }
    response.body(format!("{message}\n{hint}\n"))
}

pub(crate) fn refuse_method(request: &HttpRequest, allowed: &str) -> HttpResponse {
    let message = format!("The method {} is not allowed for {}; use {allowed}.", request.method(), request.path());
    let mut refusal = refuse_api(ErrorCode::MethodNotAllowed, &message);
    refusal.headers_mut().insert(ALLOW, HeaderValue::from_str(allowed).expect("names of methods"));
    refusal
}

/// Refuses every path under `/api/` that no route matches.
pub(crate) async fn unknown_resource(request: HttpRequest) -> HttpResponse {
    refuse_api(ErrorCode::NotFound, &format!("There is no resource at {}.", request.path()))
}
