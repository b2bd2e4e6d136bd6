//! Work in progress.

mod writer;
pub use writer::{MemoId, Style, Writer};
