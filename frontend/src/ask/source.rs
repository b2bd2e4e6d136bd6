//! Defines the questions about source files: which there are, and the memory of their lines.

use super::selection::SelectionData;
use serde::{Deserialize, Serialize};

/// Asks for the paths of the source files in the stacks of all devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetSourceFiles {
    pub device: u32,
}

/// Asks for the memory of source lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetSource {
    pub device: u32,
    pub selection: SelectionData,
    /// Files whose lines own allocations, as stacks name them; `None` for the program and its libraries.
    pub focus: Option<Vec<String>>,
}
