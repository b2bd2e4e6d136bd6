//! Exports a trace in the formats that other programs open.
//!
//! Invariant: an export reads the model only and never needs the file that the trace came from.
//!
//! Invariant: importing an exported snapshot gives an equal trace.

mod sanitize;
mod snapshot;

mod subject;

mod log;
mod perfetto;
mod picture;
mod report;
mod speedscope;
mod table;

pub use sanitize::{Change, Package, Remaining, SanitizeOptions, SanitizeReport, Sanitized, TextKind};
pub use snapshot::pickle;

pub use subject::Subject;

pub use log::{LOG_ROOM, LogForm, diagnosis_markdown, legend, log_chart, log_markdown, log_picture, series_color};
pub use perfetto::perfetto;
pub use picture::{MomentOptions, PictureOptions, TimelinePicture, flame_picture, segments_picture};
pub use report::report;
pub(crate) use report::{Html, framed};
pub use speedscope::speedscope;
pub use table::{Cell, Rows, Sheet, Table, TableFormat, csv_text, markdown_text, table};
