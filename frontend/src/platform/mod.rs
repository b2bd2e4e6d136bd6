//! Everything that touches the browser.
//!
//! Invariant: `web_sys` and `js_sys` are named here, and in components only to read an event.

mod worker_client;
mod worker_scope;

pub use worker_client::{AskError, Source, WorkerClient};
