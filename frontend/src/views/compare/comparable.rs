//! Devices that can be compared.

use super::hook::DeviceOf;
use crate::state::FileId;

/// A device of an open file, by the numbers of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: FileId,
    pub(super) device: u32,
}

/// A device that can be compared, with the names for its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comparable {
    pub(super) place: Place,
    pub(super) of: DeviceOf,
    pub(super) file: String,
    pub(super) index: i64,
}
