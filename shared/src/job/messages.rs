//! Marks the lines of the virtual GPU's log by which `snapscope run` knows them.

/// Begins each line.
pub const LINE: &str = "virtual GPU: ";

/// Follows the name of a function that is not modeled.
pub const NOT_MODELED: &str = " is not implemented";

/// Begins the line that says why the workspaces of cuDNN could not be learned.
pub const UNKNOWN_WORKSPACES: &str = "the workspaces of cuDNN are not known and count as 0: ";
