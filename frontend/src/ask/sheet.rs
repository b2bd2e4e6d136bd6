//! Defines the question for a file with a table as it is on the screen.

use super::allocations::TableRequest;
use super::compare::CompareSide;
use super::differences::Sort;
use super::flame::FlameSource;
use super::segments::Instant;
use super::site_table::SiteOrder;
use serde::{Deserialize, Serialize};
use shared::analysis::{DiffBy, Profile};
use shared::export::TableFormat;

/// Table to write, with all rows that the filter leaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SheetOrder {
    pub device: u32,
    /// Name of the file.
    pub file: String,
    pub format: TableFormat,
    pub of: SheetOf,
}

/// Tables of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SheetOf {
    /// Allocations or groups of them; the page of rows in the request is ignored.
    Allocations(TableRequest),
    /// Functions with the memory that they allocate.
    Sites {
        /// Selection of allocations.
        source: FlameSource,
        /// Order of the rows.
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
        /// Grouping of the rows.
        by: DiffBy,
        /// Order of the rows.
        sort: Sort,
        /// Search text, or empty.
        filter: String,
    },
    /// Findings on all GPUs.
    Findings,
}
