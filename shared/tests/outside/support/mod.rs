//! Laws, and what counts and makes inputs for them, which the fuzz targets include too.

pub(crate) mod analyses;
pub(crate) mod bombs;
pub(crate) mod configs;
pub(crate) mod copies;
pub(crate) mod counting;
pub(crate) mod exports;
pub(crate) mod frame_kinds;
pub(crate) mod program;
pub(crate) mod stored;

use shared::import::import;
use shared::trace::Trace;

/// Returns the stored snapshots of a folder whose names are wanted.
#[track_caller]
pub(crate) fn snapshots(folder: &str, least: usize, is_wanted: impl Fn(&str) -> bool) -> Vec<(String, Trace)> {
    let wanted = stored::files(folder, 0).into_iter().filter(|(name, _)| is_wanted(name));
    let snapshots: Vec<_> = wanted.map(|(name, bytes)| (name, import(&bytes).expect("a snapshot"))).collect();
    assert!(snapshots.len() >= least, "only {} snapshots in {folder}", snapshots.len());
    snapshots
}
