//! Defines the question for a file in another format.

use serde::{Deserialize, Serialize};
use shared::analysis::Axis;
use shared::export::{Table, TableFormat};

/// Format that a Web Worker can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportForm {
    /// Timeline as SVG.
    Picture,
    Table(Table, TableFormat),
    /// Live bytes of a moment for speedscope.
    Speedscope,
    /// Timelines of all devices for Perfetto.
    Perfetto,
    /// HTML page about all devices.
    Report,
    /// Snapshot itself, compressed.
    Pickle,
}

impl ExportForm {
    /// Returns the media type of the export.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Picture => "image/svg+xml",
            Self::Table(_, format) => format.media_type(),
            Self::Speedscope | Self::Perfetto => "application/json",
            Self::Report => "text/html;charset=utf-8",
            Self::Pickle => "application/gzip",
        }
    }
}

/// Order for an export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportOrder {
    pub form: ExportForm,
    /// Name of the file.
    pub file: String,
    /// Position of the device for a picture, a table or a profile.
    pub device: u32,
    /// Moment of tables and profiles of a single moment; `None` for the peak.
    pub moment: Option<u32>,
    /// Horizontal axis of a picture.
    pub axis: Axis,
    /// Range of the axis that a picture shows; `None` for all of it.
    pub range: Option<(f64, f64)>,
    /// True for a picture with a nearly black background.
    pub is_dark: bool,
    /// True if names of people and machines, paths and metadata are left out.
    pub is_clean: bool,
}
