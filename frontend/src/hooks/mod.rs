//! The page's state and its effects, for components.

mod use_answer;
mod use_commands;
mod use_drop;
mod use_files;
mod use_keys;
mod use_scheme;

pub use use_answer::{use_details, use_stacks};
pub use use_commands::{Commands, use_commands};
pub use use_drop::use_drop;
pub use use_files::{FilesHandle, use_files};
pub use use_keys::use_keys;
pub use use_scheme::{SchemeHandle, use_scheme};
