//! Laws, and what counts and makes inputs for them, which the fuzz targets include too.

pub(crate) mod analyses;
pub(crate) mod bombs;
pub(crate) mod configs;
pub(crate) mod copies;
pub(crate) mod counting;
pub(crate) mod exports;
pub(crate) mod frame_kinds;
pub(crate) mod log;
pub(crate) mod program;
pub(crate) mod stored;
