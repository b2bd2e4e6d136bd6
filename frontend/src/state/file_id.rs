//! Numbers open files.

/// Number of an open file, never used twice in one visit.
pub type FileId = u32;
