//! Texts and files that are pasted anywhere on the page.

use super::blob::{file_of, text_blob};
use super::browser::window;
use super::dropped::list;
use super::keyboard::is_text;
use gloo_events::EventListener;
use wasm_bindgen::JsCast;
use web_sys::{ClipboardEvent, File};

/// Name of a pasted text, as that of a file.
const NAME: &str = "Pasted text";

/// Listener for what is pasted outside of text fields, active until it is dropped.
pub struct PasteListener {
    _listener: EventListener,
}

impl PasteListener {
    /// `on_files` receives pasted files, or a pasted text as a file.
    pub fn new(on_files: impl Fn(Vec<File>) + 'static) -> Self {
        let _listener = EventListener::new(&window(), "paste", move |event| {
            let event: &ClipboardEvent = event.unchecked_ref();
            let Some(clipboard) = event.clipboard_data() else { return };
            if event.target().is_some_and(|target| target.dyn_ref().is_some_and(is_text)) {
                return;
            }
            let files = list(clipboard.files());
            let text = clipboard.get_data("text/plain").unwrap_or_default();
            if !files.is_empty() {
                on_files(files);
            } else if !text.trim().is_empty() {
                let file = text_blob(&text, "text/plain").ok().and_then(|blob| file_of(&blob, NAME));
                on_files(file.into_iter().collect());
            }
        });
        Self { _listener }
    }
}
