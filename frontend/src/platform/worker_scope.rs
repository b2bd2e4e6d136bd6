//! The browser's side of a file's worker.
