//! Hooks with the state and the effects of a whole page.

mod local_files;
mod page_address;
mod use_answer;
mod use_arrival;
mod use_commands;
mod use_drop;
mod use_file;
mod use_files;
mod use_history;
mod use_keys;
mod use_long_rows;
mod use_scheme;
mod use_session;
mod use_settled;
mod use_view_link;
mod view_link;

pub use use_answer::{use_answer, use_asked};
pub use use_arrival::{Arrival, ArrivalFailure, use_arrival};
pub use use_commands::{Commands, use_commands};
pub use use_drop::use_drop;
pub use use_file::{FileHandle, OPEN_DOCK_SELECTOR, ShownFile, use_file, use_shown, use_subject};
pub use use_files::{FilesHandle, OpenLog, Opening, Peer, use_files};
pub use use_keys::use_keys;
pub use use_long_rows::{use_room, use_spacer};
pub use use_scheme::{SchemeHandle, use_scheme};
pub use use_session::{SessionHandle, use_session};
pub use use_settled::use_settled;
pub use use_view_link::use_view_link;
pub use view_link::{Seen, ViewLink};
