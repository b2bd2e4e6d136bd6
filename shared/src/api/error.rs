//! Defines the error document of all refused requests.

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
