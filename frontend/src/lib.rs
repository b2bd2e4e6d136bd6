//! Shared parts of Snapscope's pages, and the engine of the Web Worker behind the viewer.
//!
//! Each page is a WASM module of its own (`viewer/`, `jobs/`), so that no page loads what only another one needs.
//! `state`, `view` and `draw` depend on neither yew nor the browser and are tested natively.

pub mod worker;

pub mod state;

pub mod view;

pub mod draw;

pub mod platform;

pub mod hooks;

pub mod components;

pub mod pages;
