//! Converts messages between page and Web Workers to the form that the browser transfers: one buffer each.

use crate::ask::wire;
use js_sys::{ArrayBuffer, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};

/// Writes a message to a new buffer.
pub fn to_buffer(message: &impl Serialize) -> ArrayBuffer {
    Uint8Array::from(wire::write(message).as_slice()).buffer()
}

/// Reads the message in a buffer; `None` for anything else.
pub fn from_buffer<T: DeserializeOwned>(data: &JsValue) -> Option<T> {
    let buffer: &ArrayBuffer = data.dyn_ref()?;
    wire::read(&Uint8Array::new(buffer).to_vec())
}
