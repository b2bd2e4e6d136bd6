//! State of the page and the actions that change it, independent of yew and the browser.
//!
//! Choices in a view are part of the file's state, so that an address restores them.
//! Findings, *What if* and the line in the timeline share one card per file; for a job's snapshot it is at first the
//! card of the job.

mod card;
mod choices;
mod fields;
mod files;
mod history;
mod keys;
mod links;
mod origin;
mod points;
mod scheme;
mod selecting;
mod session;
mod sharing;
mod turns;
mod view_state;

pub use crate::ask::{Failure, Remedy};
pub use card::ThisCard;
pub use choices::{
    Against, BlockColors, Choice, Choices, CompareChoice, Controls, DifferencesChoice, EventsChoice, FileId, Rootward,
    RowsChoice, SegmentsChoice, StacksChoice, Zoom,
};
pub use fields::ViewStateError;
pub use files::{FileAction, FileStatus, Files, Keeping, Loading, LogFile, OpenFile, ReadyFile};
pub use history::{Entry, NO_FILE, Place, entry_for};
pub use keys::{Issued, KeyAction, KeyPress, TimelineCommand, action_of, dock_key, tab_after};
pub use links::{LINKS_DIALOG, Link, Links, Unreadable};
pub use origin::{Address, LinkFacts, Origin, Start};
pub use points::{Bookmark, Measure, PointAction, Points};
pub use scheme::{Scheme, SchemeChoice};
pub use selecting::{Meaning, Selecting, When};
pub use session::{Session, SessionFile, awaited_text, take_awaited};
pub use sharing::{CopyStep, SendFailure, SendStep, ServerState, Sharing, SharingAction, cuts_text, shared_view_text};
pub use turns::Turns;
pub use view_state::{DockTab, PanelTab, PinKey, ViewState};
