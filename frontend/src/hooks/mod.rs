//! The page's state and its effects, for components.

pub mod kept_links;
mod use_allocations;
mod use_answer;
mod use_arrival;
mod use_commands;
mod use_compare;
mod use_drop;
mod use_evidence;
mod use_files;
mod use_flame;
mod use_keys;
mod use_scheme;
mod use_segments;
mod use_selecting;
mod use_settled;
mod use_sharing;
mod use_view_link;
mod use_what_if;

pub use use_allocations::{Page, use_rows, use_selection_facts, walk};
pub use use_answer::{use_categories, use_details, use_stacks};
pub use use_arrival::{Arrival, ArrivalFailure, use_arrival};
pub use use_commands::{Commands, use_commands};
pub use use_compare::{Comparison, DeviceOf, SideOf, find_allocation, use_curve, use_diff, use_ranks, use_steps};
pub use use_drop::use_drop;
pub use use_evidence::{Evidence, Shown, use_evidence};
pub use use_files::{FilesHandle, Opening, Peer, use_files};
pub use use_flame::{Readable, use_flame_boxes, use_flame_sites};
pub use use_keys::use_keys;
pub use use_scheme::{SchemeHandle, use_scheme};
pub use use_segments::use_segments;
pub use use_selecting::{SelectingHandle, use_awaited_group, use_selecting};
pub use use_settled::use_settled;
pub use use_sharing::{SharingHandle, delete_link, use_sharing};
pub use use_view_link::{Seen, ViewLink, use_view_link};
pub use use_what_if::{Replayed, SweepHandle, use_recorded_setup, use_replay, use_sweep};
