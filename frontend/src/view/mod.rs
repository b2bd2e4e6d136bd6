//! Reports of the core as the words and numbers that the page shows: no yew, no browser.

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
