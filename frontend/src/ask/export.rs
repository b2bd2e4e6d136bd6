//! Defines the questions for files: other formats, tables as they are on the screen, and clean copies for sharing with
//! the preview of what they leave out.

use super::allocations::TableRequest;
use super::compare::CompareSide;
use super::differences::Sort;
use super::flame::FlameSource;
use super::segments::Instant;
use super::site_table::SiteOrder;
use serde::{Deserialize, Serialize};
use shared::analysis::{Axis, DiffBy, Profile};
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportOrder {
    pub form: ExportForm,
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

/// Table to write, with all rows that the filter leaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SheetOrder {
    pub device: u32,
    pub file: String,
    pub format: TableFormat,
    pub of: SheetOf,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SheetOf {
    /// Allocations or groups of them; the page of rows in the request is ignored.
    Allocations(TableRequest),
    /// Functions with the memory that they allocate.
    Sites {
        /// Selection of allocations.
        source: FlameSource,
        order: SiteOrder,
        /// Search text, or empty.
        search: String,
    },
    /// Segments of a moment.
    Segments(Instant),
    /// Differences between two moments.
    Differences {
        /// Side of this device.
        side: CompareSide,
        other: Box<Profile>,
        by: DiffBy,
        sort: Sort,
        filter: String,
    },
    /// Findings on all GPUs.
    Findings,
}

/// Parts that are removed from a copy; the message form of `shared::export::SanitizeOptions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyOptions {
    /// Shorten paths so that they begin at the package or project.
    pub cut_paths: bool,
    /// Remove names that paths reveal, and hosts, addresses and keys.
    pub remove_names: bool,
    /// Further names to remove.
    pub names: Vec<String>,
    /// Omit the frames of these packages.
    pub dropped_packages: Vec<String>,
    /// Omit the users' texts on events.
    pub drop_metadata: bool,
    pub drop_annotations: bool,
}

impl Default for CopyOptions {
    /// Returns options that remove all names of people and machines, but keep what explains the memory.
    fn default() -> Self {
        Self {
            cut_paths: true,
            remove_names: true,
            names: Vec::new(),
            dropped_packages: Vec::new(),
            drop_metadata: true,
            drop_annotations: false,
        }
    }
}

/// Asks for a summary of what a clean copy of the file would leave out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetCopyPreview {
    pub options: CopyOptions,
}

/// Asks for a clean copy of the file, compressed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriteCopy {
    pub options: CopyOptions,
}
