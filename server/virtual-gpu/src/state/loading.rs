//! Notes when kernels are loaded: the host takes so long for it that the device has done all its work meanwhile.
//!
//! When the second one is loaded, the driver hands out the area of addresses through which it loads them.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::machine::runs_ahead;
use super::memory::{free_area, is_area_free};
use super::{machine, now};

/// The kernels that were launched, by their addresses.
static LOADED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// What stands for the kernels of NVIDIA's libraries, which have no addresses here.
pub(crate) const LIBRARY: usize = 1;
pub(crate) const CUDNN: usize = 2;

/// Notes the launch of a kernel, or that a library loads its own.
pub(crate) fn note_load(kernel: usize) {
    if is_area_free() && !runs_ahead() {
        return;
    }
    let count = {
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if !loaded.insert(kernel) {
            return;
        }
        loaded.len()
    };
    let Ok(machine) = machine() else { return };
    if count == 2 {
        free_area();
        machine.cards().for_each(|device| device.lock().memory.end_loading());
    }
    // A lag that was set is exact.
    if runs_ahead() {
        machine.complete_all(now());
    }
}
