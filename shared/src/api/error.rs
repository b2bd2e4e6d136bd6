//! Errors of the API: their codes, and the body that carries them.

use serde::{Deserialize, Serialize};

/// Reason why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// Reason as a code; another version of the server may send one that is not in the list.
    #[cfg_attr(feature = "openapi", schema(value_type = super::ErrorCode))]
    pub code: String,
    /// Sentence that says what happened.
    pub message: String,
    /// Sentence that says what to do about it.
    pub hint: String,
    /// All problems of a config.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ProblemBody>,
    /// Identifier of the request in the server's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// One problem of a config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProblemBody {
    /// Key, such as `model.hidden`; empty for the whole document.
    pub path: String,
    /// Line in the text, counted from 1.
    pub line: Option<u32>,
    /// Character in the line, counted from 1.
    pub column: Option<u32>,
    /// Description of the problem, without a period at the end.
    pub message: String,
    /// Advice on what to write instead, without a period at the end; may be empty.
    pub hint: String,
}

crate::codes! {
    /// Reason to refuse a request.
    pub enum ErrorCode {
        /// No resource has this path.
        NotFound => "not_found",
        /// The resource does not support this method.
        MethodNotAllowed => "method_not_allowed",
        /// The request does not conform to the API.
        BadRequest => "bad_request",
        /// The training config cannot be recorded.
        InvalidConfig => "invalid_config",
        /// The upload is not a snapshot.
        InvalidSnapshot => "invalid_snapshot",
        /// The request needs the server's token.
        Unauthorized => "unauthorized",
        /// The request comes from a page of another site.
        Forbidden => "forbidden",
        /// The idempotency key was used for another request, or the resource is in the wrong state.
        Conflict => "conflict",
        /// The store has lost the object.
        Gone => "gone",
        /// The request body arrives too slowly.
        TooSlow => "too_slow",
        /// The request is larger than a limit.
        TooLarge => "too_large",
        /// This address sends too many requests.
        TooManyRequests => "too_many_requests",
        /// The maximum number of jobs is queued.
        QueueFull => "queue_full",
        /// No space is left on the disk or in the store.
        NoRoom => "no_room",
        /// The database or the store does not answer.
        Unavailable => "unavailable",
        /// The server has a bug.
        Internal => "internal",
    }
}

impl ErrorCode {
    /// Returns the HTTP status and the hint.
    pub const fn answer(self) -> (u16, &'static str) {
        match self {
            Self::NotFound => (404, "Check the address; the start page is at /."),
            Self::MethodNotAllowed => (405, "Use a method from the Allow header."),
            Self::BadRequest => (400, "Correct the request as the message says."),
            Self::InvalidConfig => (422, "Correct the config and submit it again."),
            Self::InvalidSnapshot => (422, "Share a gzip-compressed file that torch.cuda.memory._dump_snapshot wrote."),
            Self::Unauthorized => (401, "Log in at /login, or send the token in the header Authorization: Bearer."),
            Self::Forbidden => (403, "Send the request from the server's own page, or from a program."),
            Self::Conflict => (409, "Check the state of the existing job."),
            Self::Gone => (410, "Record or share it again. The server's operator can run `snapscope data check`."),
            Self::TooSlow => (408, "Send it again, over a faster connection if possible."),
            Self::TooLarge => (413, "See the limits at /api/v1/limits."),
            Self::TooManyRequests => (429, "Wait as long as the Retry-After header says."),
            Self::QueueFull => (503, "Wait until some of the jobs have ended."),
            Self::NoRoom => (507, "Ask the server's operator to free space."),
            Self::Unavailable => (503, "Try again in a moment; nothing was lost."),
            Self::Internal => (500, "Please report it with its request_id."),
        }
    }
}
