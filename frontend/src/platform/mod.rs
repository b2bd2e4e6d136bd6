//! All access to the browser's functions, except for painting the timeline's bands (`views/timeline/paint.rs`).
//!
//! Invariant: other modules call no function of the browser through `web_sys` or `js_sys`; they name its types, such as
//! files, elements and events.

mod address;
#[cfg(target_arch = "wasm32")]
mod allocator;
mod api;
mod blob;
mod browser;
mod canvas;
mod drop;
mod folder;
mod frames;
mod hand_over;
pub mod kept;
mod keyboard;
mod scheme;
mod session;
mod surface;
mod worker_client;

pub use address::{
    asset_url, entry_name, fragment, has_files, has_server, on_history, page_address, page_path, put_entry, query,
    search_param, search_params, site_url, start,
};
pub use api::{ApiError, ApiRequest, Upload, api_url, keep_token, token};
pub use blob::{Blob, blob, file_of, png_of, save, text_blob};
pub use browser::{
    Pointed, bring_into_view, copy_text, day_text, mark, now_ms, place_beside, press, processors, set_title,
    show_modal, unix_ms,
};
pub use canvas::{context_options, fit_canvas, opaque_context_of, paint_ops, sibling_of};
pub use drop::{chosen_files, on_drop, on_paste};
pub use folder::{Folder, choose_folder, folder_of, has_folder_dialog};
pub use frames::{
    ResizeListener, bring_into_view_soon, mark_when_presented, on_next_frame, pixel_ratio, prefers_reduced_motion,
};
pub use hand_over::{HandOver, bring_to_jobs, brought_config, files_in, on_launch};
pub use kept::{can_keep, forget_kept, kept_file};
pub use keyboard::{focus_element, focus_first, on_keys};
pub use scheme::{apply_scheme, on_system_scheme, remembered_scheme, system_scheme};
pub use session::{guard_page, keep_session, new_session_id, on_leave, session_text, store, stored};
pub use surface::{
    Surface, client_point, corner_of, on_event, place_tooltip, place_window, point_in, set_attribute, set_height,
    set_style, set_width, share_across, size_of_element, turned_px,
};
pub use worker_client::{AskError, Drawn, Source, WorkerClient, from_buffer, keep_spare_worker, to_buffer};
