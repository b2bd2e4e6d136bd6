//! Defines the files that the engine writes: other formats, tables as they are on the screen, and clean copies for
//! sharing.

use super::allocations::TableRequest;
use super::compare::CompareSide;
use super::differences::Sort;
use super::flame::FlameSource;
use super::segments::Instant;
use super::site_table::SiteOrder;
use serde::{Deserialize, Serialize};
use shared::analysis::{DiffBy, Profile};
use shared::export::{Table, TableFormat};

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
pub enum SheetOf {
    /// Allocations or groups of them; the page of rows in the request is ignored.
    Allocations(TableRequest),
    /// Functions with the memory that they allocate, or those that a search finds.
    Sites {
        source: FlameSource,
        order: SiteOrder,
        search: String,
    },
    Segments(Instant),
    /// Differences between a side of this device and another one.
    Differences {
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
