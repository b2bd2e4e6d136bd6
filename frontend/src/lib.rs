//! What the pages of Snapscope are made of.
//!
//! Each page is a WASM module of its own (`home/`, `viewer/`, `jobs/`), so that no page loads what only another one
//! needs; `engine/` is the module of the Web Worker behind the viewer.
//! Modules use only those before them in this order: `ask`, `draw`, `state`, `platform`, `hooks` and `components` (which
//! do not use each other), `views`, `pages`.
//! `ask`, `draw` and `state`, and the `model` and `draw` of each view, depend on neither yew nor the browser, so that
//! they are tested natively.

pub mod ask;

pub mod state;

pub mod draw;

pub mod platform;

pub mod hooks;

pub mod components;

pub mod views;

pub mod pages;
