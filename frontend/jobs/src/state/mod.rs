//! State of the pages and its transitions, independent of the browser.

mod catalog;
mod draft;
mod edit;
mod route;
mod sources;
mod watch;

pub(crate) use catalog::{CatalogFilter, Entry, Kind, Topic, entries, topics};
pub(crate) use draft::{Draft, DraftAction};
pub(crate) use edit::FieldValue;
pub(crate) use route::{Change, Route, Start};
pub(crate) use sources::TextFile;
pub(crate) use watch::{Link, Sample, Watch, WatchAction};
