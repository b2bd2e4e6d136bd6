//! Tests the core from outside. They are one program, because each program links all of the core.

mod allocator;
mod clean_copies;
mod configs;
mod exports;
mod extremes;
mod law;
mod long_lists;
mod replay;
mod source;
mod support;
