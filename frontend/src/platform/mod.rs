//! All access to the browser's functions, except for painting the timeline's bands (`views/timeline/paint.rs`).
//!
//! Invariant: other modules call no function of the browser through `web_sys` or `js_sys`; they name its types, such as
//! files, elements and events.

mod address;
#[cfg(target_arch = "wasm32")]
mod allocator;
mod api;
mod beside;
mod blob;
mod brought;
mod browser;
mod canvas;
mod dates;
mod drop;
mod dropped;
mod folder;
mod frames;
mod hand_over;
pub mod kept;
mod keyboard;
mod launch;
pub mod messages;
mod paint_ops;
mod paste;
mod resize;
mod save;
mod scheme;
mod session;
mod site;
mod source;
mod storage;
mod surface;
mod upload;
mod worker_client;

pub use address::{HistoryListener, entry_name, fragment, page_address, page_path, put_entry, search_params};
pub use api::{ApiError, ApiRequest, api_url, keep_token, token};
pub use beside::{Pointed, place_beside};
pub use blob::{Blob, blob, file_of, text_blob};
pub use brought::{bring_to_jobs, brought_config};
pub use browser::{bring_into_view, copy_text, mark, now_ms, processors, search_param, set_title, show_modal};
pub use canvas::{context_of, context_options, fit_canvas, opaque_context_of, sibling_of};
pub use dates::{day_text, unix_ms};
pub use drop::{DropListener, chosen_files};
pub use folder::{Folder, choose_folder, folder_of, has_folder_dialog};
pub use frames::{bring_into_view_soon, mark_when_presented, on_next_frame, pixel_ratio, prefers_reduced_motion};
pub use hand_over::{HandOver, files_in};
pub use kept::{can_keep, forget_kept, kept_file};
pub use keyboard::{KeyListener, focus_element, focus_first};
pub use launch::on_launch;
pub use paint_ops::paint_ops;
pub use paste::PasteListener;
pub use resize::ResizeListener;
pub use save::{png_of, save};
pub use scheme::{SystemScheme, apply_scheme, remembered_scheme, system_scheme};
pub use session::{LeaveGuard, LeaveListener, keep_session, new_session_id, session_text};
pub use site::{asset_url, has_files, has_server, site_url, start};
pub use source::Source;
pub use storage::{store, stored};
pub use surface::{
    Surface, client_point, corner_of, place_tooltip, place_window, point_in, set_attribute, set_height, set_style,
    set_width, share_across, size_of_element,
};
pub use upload::Upload;
pub use worker_client::{AskError, Drawn, WorkerClient, keep_spare_worker};
