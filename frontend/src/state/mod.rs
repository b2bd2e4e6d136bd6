//! What the page knows, and how actions change it: no yew, no browser.

mod scheme;
mod timeline_command;

pub use scheme::{Scheme, SchemeChoice};
pub use timeline_command::{Issued, TimelineCommand};
