//! Reads the bytes of a snapshot piece by piece.
//!
//! Apart from decoding, reading a file as a stream takes half the time of reading it in slices, with or without
//! read-ahead, because the browser fills the stream while the worker is busy.

use frontend::platform::Source;
use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStreamDefaultReader, Response, WorkerGlobalScope};

/// File or response that is read from its start to its end.
pub(super) struct Reader {
    stream: ReadableStreamDefaultReader,
    /// Size in bytes; 0 if the server does not tell it.
    pub(super) total_bytes: u64,
}

impl Reader {
    /// Opens the source for reading.
    ///
    /// # Errors
    /// Returns a sentence if the URL can't be fetched.
    pub(super) async fn open(source: &Source, scope: &WorkerGlobalScope) -> Result<Self, String> {
        match source {
            Source::File(file) => {
                Ok(Self { stream: file.stream().get_reader().unchecked_into(), total_bytes: file.size() as u64 })
            }
            Source::Url(url) => Self::fetch(url, scope).await,
        }
    }

    async fn fetch(url: &str, scope: &WorkerGlobalScope) -> Result<Self, String> {
        let failed = |reason: &str| format!("The snapshot at {url} could not be fetched: {reason}");
        let response =
            JsFuture::from(scope.fetch_with_str(url)).await.map_err(|_| failed("the server does not respond"))?;
        let response: Response = response.dyn_into().map_err(|_| failed("the response is invalid"))?;
        if !response.ok() {
            return Err(failed(&format!("the server returned status {}", response.status())));
        }
        let length = response.headers().get("content-length").ok().flatten();
        let stream = response.body().ok_or_else(|| failed("the response is empty"))?;
        let total_bytes = length.and_then(|length| length.parse().ok()).unwrap_or(0);
        Ok(Self { stream: stream.get_reader().unchecked_into(), total_bytes })
    }

    /// Reads the next bytes into `buffer`, whose content is replaced; returns `None` at the end.
    ///
    /// # Errors
    /// Returns a sentence if the file can't be read any more.
    pub(super) async fn next(&mut self, buffer: &mut Vec<u8>) -> Result<Option<()>, String> {
        let Some(bytes) = next_chunk(&self.stream).await.map_err(|error| unreadable(&error))? else {
            return Ok(None);
        };
        buffer.resize(bytes.length() as usize, 0);
        bytes.copy_to(buffer);
        Ok(Some(()))
    }
}

async fn next_chunk(stream: &ReadableStreamDefaultReader) -> Result<Option<Uint8Array>, JsValue> {
    let step = JsFuture::from(stream.read()).await?;
    if Reflect::get(&step, &"done".into())?.is_truthy() {
        return Ok(None);
    }
    Reflect::get(&step, &"value".into())?.dyn_into().map(Some)
}

/// Describes a read error with the browser's reason, which is usually that the file was changed or moved meanwhile.
fn unreadable(error: &JsValue) -> String {
    let reason = error.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    format!("The file can no longer be read: {}", reason.unwrap_or_else(|| "the browser gives no reason".to_owned()))
}
