//! Requests to the server: JSON in both directions, and refusals in its own envelope.

use super::browser::window;
use super::site::site_url;
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::api::ErrorBody;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{RequestInit, Response, Storage};

/// Where the token of a server that needs one is kept.
const TOKEN_KEY: &str = "snapscope-token";

/// Why a request brought nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiError {
    /// Nobody answers, or what answers is no server of Snapscope.
    NoServer,
    /// The server refused it.
    Refused {
        /// The HTTP status.
        status: u16,
        /// Why, and what to do.
        body: ErrorBody,
    },
}

/// A request that is yet to be sent.
#[derive(Clone, Debug)]
pub struct ApiRequest {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Option<String>,
}

impl ApiRequest {
    /// Reads; `path` is below `/api/v1`, such as `jobs`.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path.into())
    }

    /// Makes something.
    pub fn post(path: impl Into<String>) -> Self {
        Self::new("POST", path.into())
    }

    /// Changes a part of something.
    pub fn patch(path: impl Into<String>) -> Self {
        Self::new("PATCH", path.into())
    }

    /// Removes something.
    pub fn delete(path: impl Into<String>) -> Self {
        Self::new("DELETE", path.into())
    }

    fn new(method: &'static str, path: String) -> Self {
        Self { method, path, headers: Vec::new(), body: None }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Sends this as JSON.
    ///
    /// # Panics
    /// If the value has a map whose keys are no texts.
    #[must_use]
    pub fn json<T: Serialize>(mut self, value: &T) -> Self {
        self.body = Some(serde_json::to_string(value).expect("wire types have texts as keys"));
        self.header("content-type", "application/json")
    }

    /// Sends it and reads the answer's JSON.
    ///
    /// # Errors
    /// As [`ApiError`] says.
    pub async fn send<T: DeserializeOwned>(self) -> Result<T, ApiError> {
        serde_json::from_str(&self.send_for_text().await?).map_err(|_| ApiError::NoServer)
    }

    /// Sends it, where the answer has nothing to read.
    ///
    /// # Errors
    /// As [`ApiError`] says.
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
        // A link is deleted with a token of its own.
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

/// What came of a request, by the status and the text of its answer.
pub(super) fn answer_of(status: u16, text: String) -> Result<String, ApiError> {
    if (200..300).contains(&status) {
        return Ok(text);
    }
    // A host of plain files says 404 in its own words.
    match serde_json::from_str(&text) {
        Ok(body) => Err(ApiError::Refused { status, body }),
        Err(_) => Err(ApiError::NoServer),
    }
}

/// The address of something below `/api/v1`.
pub fn api_url(path: &str) -> String {
    site_url(&format!("api/v1/{path}"))
}

/// The token that this browser keeps for the server, if any.
pub fn token() -> Option<String> {
    storage()?.get_item(TOKEN_KEY).ok()?.filter(|token| !token.is_empty())
}

/// Keeps a token for the server, or forgets it.
pub fn keep_token(token: Option<&str>) {
    let Some(storage) = storage() else { return };
    // Storage that is full or switched off: the token will be asked for again.
    let _ = match token {
        Some(token) => storage.set_item(TOKEN_KEY, token),
        None => storage.remove_item(TOKEN_KEY),
    };
}

fn storage() -> Option<Storage> {
    window().local_storage().ok()?
}
