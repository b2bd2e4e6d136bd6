//! Hooks with the state and the effects of a whole page.

mod local_files;
mod use_answer;
mod use_arrival;
mod use_file;
mod use_files;
mod use_page;
mod use_rows;
mod use_session;
mod use_view_link;
mod view_link;

pub use use_answer::{use_answer, use_asked};
pub use use_arrival::{Arrival, ArrivalFailure, use_arrival};
pub use use_file::{
    Commands, FileHandle, OPEN_DOCK_SELECTOR, ShownFile, use_commands, use_file, use_shown, use_subject,
};
pub use use_files::{FilesHandle, OpenLog, Peer, use_files};
pub use use_page::{SchemeHandle, use_drop, use_keys, use_scheme};
pub use use_rows::{LongList, use_long_list, use_room, use_settled};
pub use use_session::{SessionHandle, use_session};
pub use use_view_link::use_view_link;
pub use view_link::{Seen, ViewLink};
