//! HTTP requests to the server, with JSON bodies in both directions and the server's own error format, and uploads.
//!
//! Uploads use `XMLHttpRequest`, because `fetch` does not report progress.

use super::address::site_url;
use super::browser::window;
use super::session::{local_storage, put, stored};
use gloo_events::EventListener;
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::api::{ErrorBody, ErrorCode};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, FormData, ProgressEvent, RequestInit, Response, XmlHttpRequest};

/// Storage key for the token of a server that needs one.
const TOKEN_KEY: &str = "snapscope-token";

/// Reason why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiError {
    /// There was no answer, or not one of a Snapscope server.
    NoServer,
    /// Refused by the server, with the reason and what to do.
    Refused(ErrorBody),
}

impl ApiError {
    /// Returns true if the server refused the request for this reason.
    pub fn is(&self, code: ErrorCode) -> bool {
        matches!(self, Self::Refused(body) if body.code == code.name())
    }
}

#[derive(Clone, Debug)]
pub struct ApiRequest {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Option<String>,
}

impl ApiRequest {
    /// Creates a GET request; `path` is below `/api/v1`, such as `jobs`.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path.into())
    }

    pub fn post(path: impl Into<String>) -> Self {
        Self::new("POST", path.into())
    }

    pub fn patch(path: impl Into<String>) -> Self {
        Self::new("PATCH", path.into())
    }

    pub fn delete(path: impl Into<String>) -> Self {
        Self::new("DELETE", path.into())
    }

    fn new(method: &'static str, path: String) -> Self {
        Self { method, path, headers: Vec::new(), body: None }
    }

    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Sets the body to a value as JSON.
    ///
    /// # Panics
    /// Panics if the value has a map whose keys are not strings.
    #[must_use]
    pub fn json<T: Serialize>(mut self, value: &T) -> Self {
        self.body = Some(serde_json::to_string(value).expect("wire types have texts as keys"));
        self.header("content-type", "application/json")
    }

    /// Sends the request and parses the JSON of the answer.
    pub async fn send<T: DeserializeOwned>(self) -> Result<T, ApiError> {
        serde_json::from_str(&self.send_for_text().await?).map_err(|_| ApiError::NoServer)
    }

    /// Sends a request whose answer has no content.
    pub async fn send_for_nothing(self) -> Result<(), ApiError> {
        self.send_for_text().await.map(drop)
    }

    async fn send_for_text(self) -> Result<String, ApiError> {
        let (status, text) = self.exchange().await.map_err(|_| ApiError::NoServer)?;
        answer_of(status, text)
    }

    async fn exchange(&self) -> Result<(u16, String), JsValue> {
        let init = RequestInit::new();
        init.set_method(self.method);
        if let Some(body) = &self.body {
            init.set_body(&JsValue::from_str(body));
        }
        let headers = web_sys::Headers::new()?;
        for (name, value) in &self.headers {
            headers.set(name, value)?;
        }
        // A request may bring its own token, as the deletion of a share link does.
        if let (Some(token), false) = (token(), headers.has("authorization")?) {
            headers.set("authorization", &format!("Bearer {token}"))?;
        }
        init.set_headers(headers.as_ref());
        let response = JsFuture::from(window().fetch_with_str_and_init(&api_url(&self.path), &init)).await?;
        let response: Response = response.dyn_into()?;
        let text = JsFuture::from(response.text()?).await?;
        Ok((response.status(), text.as_string().unwrap_or_default()))
    }
}

/// Interprets an answer by its status and text.
fn answer_of(status: u16, text: String) -> Result<String, ApiError> {
    if (200..300).contains(&status) {
        return Ok(text);
    }
    // A static host answers 404 with a page of its own.
    Err(serde_json::from_str(&text).map_or(ApiError::NoServer, ApiError::Refused))
}

/// Returns the URL of a path below `/api/v1`.
pub fn api_url(path: &str) -> String {
    site_url(&format!("api/v1/{path}"))
}

/// Returns the server's token that this browser stores, if any.
pub fn token() -> Option<String> {
    stored(TOKEN_KEY).filter(|token| !token.is_empty())
}

/// Stores a token for the server, or removes it.
pub fn keep_token(token: Option<&str>) {
    // If storage is full or disabled, the token will be asked for again.
    put(local_storage(), TOKEN_KEY, token);
}

/// Running upload, which is aborted when this is dropped.
pub struct Upload {
    request: XmlHttpRequest,
    // The listeners must live as long as the request may call them.
    _listeners: Vec<EventListener>,
}

impl Upload {
    /// Sends a form of two parts, `view` as JSON and `snapshot`; `path` is below `/api/v1`.
    ///
    /// `on_progress` receives the bytes sent and their total; `on_end` receives the text of the answer once. It fails
    /// if the browser can't send anything.
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
                    // The status is 0 if there was no answer.
                    let text = asked.response_text().ok().flatten().unwrap_or_default();
                    on_end(answer_of(asked.status().unwrap_or(0), text));
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
