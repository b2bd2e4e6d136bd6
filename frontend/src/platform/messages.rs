//! Messages between page and workers as the browser carries them: one buffer each.

use crate::worker::wire;
use js_sys::{ArrayBuffer, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};

/// A message as a buffer of its own.
pub(super) fn to_buffer(message: &impl Serialize) -> ArrayBuffer {
    Uint8Array::from(wire::write(message).as_slice()).buffer()
}

/// The message in a buffer, `None` for anything else.
pub(super) fn from_buffer<T: DeserializeOwned>(data: &JsValue) -> Option<T> {
    let buffer: &ArrayBuffer = data.dyn_ref()?;
    wire::read(&Uint8Array::new(buffer).to_vec())
}
