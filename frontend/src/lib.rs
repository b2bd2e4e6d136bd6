//! The page of Snapscope and the web workers behind it, one WASM module for both.
//!
//! `state`, `view` and `draw` know neither yew nor the browser and are tested natively.

pub mod components;
pub mod draw;
pub mod platform;
pub mod state;
pub mod view;
pub mod worker;
