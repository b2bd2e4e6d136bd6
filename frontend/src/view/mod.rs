//! View models: reports of the core as words and numbers, without yew or a browser.

pub mod allocations;
pub mod categories;
pub mod compare;
pub mod details;
pub mod export;
pub mod figures;
pub mod findings;
pub mod flame;
pub mod growth;
pub mod keys;
pub mod notices;
pub mod preview;
pub mod progress;
pub mod ranks;
pub mod remaining;
pub mod scrolling;
pub mod segments;
pub mod selection;
pub mod sharing;
pub mod stack;
pub mod timeline;
pub mod top_stacks;
pub mod what_if;
