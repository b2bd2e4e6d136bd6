//! Uploads a file with `XMLHttpRequest`, because `fetch` does not report progress.

use super::api::{ApiError, answer_of, api_url, token};
use gloo_events::EventListener;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, FormData, ProgressEvent, XmlHttpRequest};

/// Running upload, which is aborted when this is dropped.
pub struct Upload {
    request: XmlHttpRequest,
    // The listeners must live as long as the request may call them.
    _listeners: Vec<EventListener>,
}

impl Upload {
    /// Sends a form of two parts, `view` as JSON and `snapshot`; `path` is below `/api/v1`.
    ///
    /// `on_progress` receives the bytes sent and their total; `on_end` receives the text of the answer once.
    ///
    /// # Errors
    /// Returns an error if the browser can't send anything.
    pub fn start(
        path: &str,
        view: &str,
        snapshot: &Blob,
        on_progress: impl Fn(u64, u64) + 'static,
        on_end: impl FnOnce(Result<String, ApiError>) + 'static,
    ) -> Result<Self, JsValue> {
        let form = FormData::new()?;
        form.append_with_str("view", view)?;
        form.append_with_blob("snapshot", snapshot)?;
        let request = XmlHttpRequest::new()?;
        request.open("POST", &api_url(path))?;
        if let Some(token) = token() {
            request.set_request_header("authorization", &format!("Bearer {token}"))?;
        }
        let sent = request.upload()?;
        let progress = EventListener::new(&sent, "progress", move |event| {
            let event: &ProgressEvent = event.unchecked_ref();
            on_progress(event.loaded() as u64, event.total() as u64);
        });
        let on_end = Rc::new(RefCell::new(Some(on_end)));
        let ends = ["load", "error", "timeout"].map(|name| {
            let (asked, on_end) = (request.clone(), on_end.clone());
            EventListener::new(&request, name, move |_| {
                let on_end = on_end.borrow_mut().take();
                if let Some(on_end) = on_end {
                    on_end(answer(&asked));
                }
            })
        });
        request.send_with_opt_form_data(Some(&form))?;
        Ok(Self { request, _listeners: [progress].into_iter().chain(ends).collect() })
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // It fails for a request that has ended, which does no harm.
        let _ = self.request.abort();
    }
}

/// Reads the answer; its status is 0 if there was none.
fn answer(request: &XmlHttpRequest) -> Result<String, ApiError> {
    let status = request.status().unwrap_or(0);
    let text = request.response_text().ok().flatten().unwrap_or_default();
    answer_of(status, text)
}
