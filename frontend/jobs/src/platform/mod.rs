//! Browser functions that only these pages need; the others are in `frontend::platform`.

mod events;
mod page;

pub(crate) use events::{EventStream, StreamEvent};
pub(crate) use page::{clock_ms, go_to, local_time, page_path, random_key, read_text, replace_by, search_words};
