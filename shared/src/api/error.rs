//! The envelope in which every refusal travels.

use serde::{Deserialize, Serialize};

/// Why a request was refused, or a job failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// One thing that is wrong with a config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
