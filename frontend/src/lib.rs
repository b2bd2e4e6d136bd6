//! What the pages of Snapscope are made of, and the web worker behind the viewer.
//!
//! Each page is a WASM module of its own (`viewer/`, `jobs/`), so that nobody waits for what another page needs.
//! `state`, `view` and `draw` know neither yew nor the browser and are tested natively.

pub mod worker;

pub mod state;

pub mod view;

pub mod draw;

pub mod platform;

pub mod hooks;

pub mod components;

pub mod pages;
