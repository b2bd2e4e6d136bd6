//! Tests journeys through the built page in headless Chromium, against the real server.

mod choices;
mod compare;
mod errors;
mod export;
mod feel;
mod files;
mod findings;
mod flame;
mod jobs;
mod journey;
mod keeps;
mod kinds;
mod logs;
mod names;
mod offline;
mod page;
mod part;
mod renderers;
mod room;
mod segments;
mod share;
mod source;
mod static_folder;
mod timeline;
mod what_if;
