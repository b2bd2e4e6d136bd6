//! A file in another form: what the page asks for.

use serde::{Deserialize, Serialize};
use shared::analysis::Axis;

/// A form that a worker writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportForm {
    /// The timeline as SVG.
    Picture,
    /// A table as CSV, by its position in `shared::export::Table::ALL`.
    Csv(u32),
    /// A table as JSON, by its position.
    Json(u32),
    /// The live bytes of a moment for speedscope.
    Speedscope,
    /// The timelines of all devices for Perfetto.
    Perfetto,
    /// A page about all devices.
    Report,
    /// The snapshot itself, compressed.
    Pickle,
}

impl ExportForm {
    /// The media type of what is written.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Picture => "image/svg+xml",
            Self::Csv(_) => "text/csv;charset=utf-8",
            Self::Json(_) | Self::Speedscope | Self::Perfetto => "application/json",
            Self::Report => "text/html;charset=utf-8",
            Self::Pickle => "application/gzip",
        }
    }
}

/// A file in another form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportOrder {
    /// The form.
    pub form: ExportForm,
    /// What the file is called.
    pub file: String,
    /// Position of the device that a picture, a table or a profile is of.
    pub device: u32,
    /// The moment of tables and profiles of one moment; `None` for the peak.
    pub moment: Option<u32>,
    /// What runs along a picture.
    pub axis: Axis,
    /// The part of the axis that a picture shows; `None` for all of it.
    pub range: Option<(f64, f64)>,
    /// Whether a picture is on near black.
    pub is_dark: bool,
    /// Whether names of people and machines, paths and metadata are left out.
    pub is_clean: bool,
}
