//! Holds the most recent sweep between its steps.

use shared::analysis::{BatchScale, Sweep};
use std::cell::RefCell;

/// Most recent sweep of a device.
pub(crate) type SweepCache = RefCell<Option<Running>>;

/// Sweep in progress.
#[derive(Debug)]
pub(crate) struct Running {
    pub(super) sweep: Sweep,
    pub(super) scale: Option<BatchScale>,
}
