//! The envelope in which every refusal travels.

use serde::{Deserialize, Serialize};

/// Why a request was refused, or a job failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// A stable name in snake_case.
    pub code: String,
    /// What happened: a sentence.
    pub message: String,
    /// What to do about it: a sentence.
    pub hint: String,
    /// What is wrong with a config, all of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ProblemBody>,
    /// The name of the request in the server's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// One thing that is wrong with a config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProblemBody {
    /// The key, such as `model.hidden`; empty where it is the whole document.
    pub path: String,
    /// The line in the text, from 1.
    pub line: Option<u32>,
    /// The character in the line, from 1.
    pub column: Option<u32>,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to write, without a full stop; may be empty.
    pub hint: String,
}
