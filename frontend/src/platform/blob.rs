//! Bytes that the browser holds outside of the module's memory.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;
use web_sys::{BlobPropertyBag, File};

pub use web_sys::Blob;

/// Creates a `Blob` of a media type, which page and Web Worker can exchange without a copy.
///
/// # Errors
/// Returns an error if the browser has no room for it.
pub fn blob(bytes: &[u8], media_type: &str) -> Result<Blob, JsValue> {
    let properties = BlobPropertyBag::new();
    properties.set_type(media_type);
    Blob::new_with_u8_array_sequence_and_options(&Array::of1(&Uint8Array::from(bytes)), &properties)
}

/// Creates a `Blob` of a media type from a text.
///
/// # Errors
/// Returns an error if the browser has no room for it.
pub fn text_blob(text: &str, media_type: &str) -> Result<Blob, JsValue> {
    blob(text.as_bytes(), media_type)
}

/// Gives a `Blob` a file name, as if it were a chosen file; `None` if the browser has no room for it.
pub fn file_of(blob: &Blob, name: &str) -> Option<File> {
    File::new_with_blob_sequence(&Array::of1(blob), name).ok()
}
