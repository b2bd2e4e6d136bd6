//! Reads the bytes of a snapshot piece by piece.
//!
//! Apart from decoding, reading a file as a stream takes half the time of reading it in slices, with or without
//! read-ahead, because the browser fills the stream while the worker is busy. A stream that fills the same buffer again
//! and again takes half of that once more, and leaves no garbage: for a file of 1 GB, buffers that the browser had not
//! collected yet took up to 330 MiB.
//!
//! Beside a decoder, Chromium waits 0.06 s for 372 MB that come this way, 0.2 s for a stream of new buffers and 0.4 s
//! for slices, which also take three times the memory.
//! This holds only while a processor is free for the browser's own reading: the curve that the page shows meanwhile is
//! drawn as columns of pixels (`draw/chart`), because a polygon kept the page's thread busy, which doubled the time of
//! large files on two processors.

use frontend::platform::Source;
use frontend::platform::kept::next;
use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    File, ReadableStream, ReadableStreamByobReader, ReadableStreamDefaultReader, Response, WorkerGlobalScope,
};

/// Maximum number of bytes read at a time, which is what Chromium's streams have ready.
const CHUNK_BYTES: u32 = 2 << 20;

/// File or response that is read from its start to its end.
pub(super) struct Reader {
    chunks: Chunks,
    /// Size in bytes; 0 if the server does not tell it.
    pub(super) total_bytes: u64,
}

enum Chunks {
    /// Stream that fills a buffer of the reader, which is passed to it and comes back.
    Filling(ReadableStreamByobReader, ArrayBuffer),
    /// Stream with a new buffer for each chunk, in browsers that know no other.
    New(ReadableStreamDefaultReader),
}

impl Reader {
    /// Opens the source for reading; the error is a sentence if the URL can't be fetched.
    pub(super) async fn open(source: &Source, scope: &WorkerGlobalScope) -> Result<Self, String> {
        match source {
            Source::File(file) => Ok(Self::of_file(file)),
            Source::Url(url) => Self::fetch(url, scope).await,
        }
    }

    pub(super) fn of_file(file: &File) -> Self {
        Self { chunks: Chunks::of(&file.stream()), total_bytes: file.size() as u64 }
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
        Ok(Self { chunks: Chunks::of(&stream), total_bytes })
    }

    /// Reads the next bytes into `buffer`, whose content is replaced; returns `None` at the end, and a sentence if the
    /// file can't be read any more.
    pub(super) async fn next(&mut self, buffer: &mut Vec<u8>) -> Result<Option<()>, String> {
        let Some(bytes) = self.next_bytes().await.map_err(|error| unreadable(&error))? else {
            return Ok(None);
        };
        buffer.resize(bytes.length() as usize, 0);
        bytes.copy_to(buffer);
        Ok(Some(()))
    }

    /// Reads the next bytes, which are valid until more are read; returns `None` at the end.
    pub(super) async fn next_bytes(&mut self) -> Result<Option<Uint8Array>, JsValue> {
        let step = match &self.chunks {
            Chunks::New(reader) => reader.read(),
            Chunks::Filling(reader, buffer) => reader.read_with_array_buffer_view(&Uint8Array::new(buffer)),
        };
        let Some(bytes) = next(step).await? else { return Ok(None) };
        let bytes: Uint8Array = bytes.dyn_into()?;
        if let Chunks::Filling(_, buffer) = &mut self.chunks {
            *buffer = bytes.buffer();
        }
        Ok(Some(bytes))
    }
}

impl Chunks {
    fn of(stream: &ReadableStream) -> Self {
        match ReadableStreamByobReader::new(stream) {
            Ok(reader) => Self::Filling(reader, ArrayBuffer::new(CHUNK_BYTES)),
            Err(_) => Self::New(stream.get_reader().unchecked_into()),
        }
    }
}

/// Describes a read error with the browser's reason, which is usually that the file was changed or moved meanwhile.
fn unreadable(error: &JsValue) -> String {
    let reason = error.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    format!("The file can no longer be read: {}", reason.unwrap_or_else(|| "the browser gives no reason".to_owned()))
}
