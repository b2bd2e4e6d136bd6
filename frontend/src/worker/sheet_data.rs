//! A table as it is on the screen, as a file: what the page asks for.

use super::allocations_data::TableRequest;
use super::compare_data::{CompareSide, ProfileData};
use super::flame_data::FlameSource;
use super::segments_data::Instant;
use crate::view::compare::{DiffBy, Sort};
use crate::view::flame::SiteOrder;
use serde::{Deserialize, Serialize};

/// A table to be written, all rows of it that the filter leaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SheetOrder {
    /// Position of the device.
    pub device: u32,
    /// What the file is called.
    pub file: String,
    /// Whether it is JSON, and not CSV.
    pub is_json: bool,
    /// Which table.
    pub of: SheetOf,
}

/// The tables of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SheetOf {
    /// Allocations or groups of them; the page of rows is left out of account.
    Allocations(TableRequest),
    /// Functions with what they allocate.
    Sites {
        /// The allocations.
        source: FlameSource,
        /// The order of the rows.
        order: SiteOrder,
        /// What is looked for, or nothing.
        search: String,
    },
    /// The segments of a moment.
    Segments(Instant),
    /// What differs between two moments.
    Differences {
        /// The side of this device.
        side: CompareSide,
        /// The other side.
        other: Box<ProfileData>,
        /// What the rows are.
        by: DiffBy,
        /// Their order.
        sort: Sort,
        /// What is looked for, or nothing.
        filter: String,
    },
    /// What was found on all GPUs.
    Findings,
}

impl SheetOrder {
    /// The media type of what is written.
    pub fn media_type(&self) -> &'static str {
        if self.is_json { "application/json" } else { "text/csv;charset=utf-8" }
    }
}
