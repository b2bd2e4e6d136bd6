//! What the page knows, and how actions change it: no yew, no browser.

mod files;
mod keys;
mod scheme;
mod timeline_command;

pub use files::{Failure, FileAction, FileId, FileStatus, Files, Loading, OpenFile, ReadyFile};
pub use keys::{KeyAction, KeyPress, action_of, tab_after};
pub use scheme::{Scheme, SchemeChoice};
pub use timeline_command::{Issued, TimelineCommand};
