//! Files that are dropped anywhere on the page, or chosen with a button.

use super::browser::window;
use super::dropped::{Dropped, list};
use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{DataTransfer, DragEvent, File, HtmlInputElement};

/// Listener for files dragged over the page, active until it is dropped.
pub struct DropListener {
    _listeners: [EventListener; 4],
}

impl DropListener {
    /// `on_over` receives whether files are over the page, and `on_files` the files that are dropped, with
    /// those of dropped folders.
    pub fn new(on_over: impl Fn(bool) + Clone + 'static, on_files: impl Fn(Vec<File>) + Clone + 'static) -> Self {
        let over = |is_over: bool| {
            let on_over = on_over.clone();
            move |event: &DragEvent, transfer: &DataTransfer| {
                if has_files(transfer) {
                    event.prevent_default();
                    on_over(is_over);
                }
            }
        };
        let leave = {
            let on_over = on_over.clone();
            // The event also occurs on the way from one child to another; only a leave without a new target leaves the
            // page.
            move |event: &DragEvent, _: &DataTransfer| {
                if event.related_target().is_none() {
                    on_over(false);
                }
            }
        };
        let let_go = {
            let on_over = on_over.clone();
            move |event: &DragEvent, transfer: &DataTransfer| {
                event.prevent_default();
                on_over(false);
                let dropped = Dropped::of(transfer);
                let on_files = on_files.clone();
                spawn_local(async move { on_files(dropped.all().await) });
            }
        };
        let _listeners = [
            listen("dragenter", over(true)),
            listen("dragover", over(true)),
            listen("dragleave", leave),
            listen("drop", let_go),
        ];
        Self { _listeners }
    }
}

fn listen(name: &'static str, handle: impl Fn(&DragEvent, &DataTransfer) + 'static) -> EventListener {
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(&window(), name, options, move |event| {
        let event: &DragEvent = event.unchecked_ref();
        if let Some(transfer) = event.data_transfer() {
            handle(event, &transfer);
        }
    })
}

fn has_files(transfer: &DataTransfer) -> bool {
    transfer.types().includes(&"Files".into(), 0)
}

/// Returns the files of a file input and empties it, so that the same file can be chosen again.
pub fn chosen_files(input: &HtmlInputElement) -> Vec<File> {
    let files = list(input.files());
    input.set_value("");
    files
}
