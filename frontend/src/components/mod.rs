//! What the page is made of.

pub mod timeline;
