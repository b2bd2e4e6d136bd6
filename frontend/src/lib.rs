//! What the pages of Snapscope are made of.
//!
//! Each page is a WASM module of its own (`home/`, `viewer/`, `jobs/`), so that no page loads what only another one
//! needs; `engine/` is the module of the Web Worker behind the viewer.
//! Modules use only those before them in this order: `ask`, `draw`, `state`, `platform`, `hooks` and `components` (which
//! do not use each other), `views`, `pages`.
//! `ask`, `draw` and `state`, and the `model` and `draw` of each view, depend on neither yew nor the browser, so that
//! they are tested natively.
//!
//! Pages refer to each other by plain links: there is no router, and people who only look at a file never load what
//! recordings need.
//!
//! The model of a file lives in the file's worker, and the page holds summaries and pictures, so that a frame never
//! waits for an analysis.
//! No worker knows another file: for a comparison, the page asks the other file's worker for a profile and passes it
//! on.
//! Invariant: `home` contains no view of a file, and `viewer` no decoder and no analysis.

pub mod ask;
pub mod draw;
pub mod state;

pub mod platform;

pub mod components;
pub mod hooks;

pub mod pages;
pub mod views;
