//! Lines above the timeline: header, toolbar, figures of the device, notices about the file, and help.

pub mod figures;
pub mod header;
pub mod model;
