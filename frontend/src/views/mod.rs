//! Views of a snapshot, one folder each.
//!
//! The components of a view are in `mod.rs` and the files beside it, its questions to the Web Worker in `hook.rs` unless
//! there are few, its texts and numbers in `model.rs` or files that end with `_model.rs`, and its drawing in `draw`.
//!
//! All views share the selection, and the dock shows one at a time of what the timeline shows.
//! A saved drawing is the last list of drawing operations; a saved table is made in the worker by the code that sorts
//! and filters the view.
//!
//! Invariant: components compute no figures, and there is no inline style or script, because the security policy
//! forbids them.

pub mod open;

pub mod head;
pub mod kind;
pub mod overview;
pub mod panel;
pub mod points;
pub mod timeline;

pub mod dock;
pub mod events;
pub mod selection;

pub mod allocations;
pub mod compare;
pub mod findings;
pub mod flame;
pub mod segments;
pub mod source;
pub mod what_if;

pub mod log;

pub mod export;
pub mod share;

pub mod tour;
