//! Autocast that frees its casts of weights in the order in which they were made.
//!
//! PyTorch caches the casts of a region in a hash map keyed by host addresses and frees them in that map's order, which
//! differs from run to run. Here layers ask for the casts of their operands themselves, so that PyTorch has nothing
//! left to cast. The casts, their number and their place in the graph are the same as in PyTorch; only the order of the
//! frees at the end of a region differs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;

use shared::job::Amp;
use tch::{Kind, Tensor};

use crate::{Result, shim};

/// Casts of the autocast region that a thread is in.
#[derive(Debug)]
struct Region {
    kind: Kind,
    casts: Vec<Tensor>,
    /// Positions in `casts`, by the address of the weight.
    positions: HashMap<*mut c_void, usize>,
}

thread_local! {
    static REGION: RefCell<Option<Region>> = const { RefCell::new(None) };
}

/// Runs `work` under autocast on this thread; the casts of weights live until it ends.
pub(super) fn run<T>(amp: Amp, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let kind = if amp.fp16 { Kind::Half } else { Kind::BFloat16 };
    let region = Region { kind, casts: Vec::new(), positions: HashMap::new() };
    let outer = REGION.replace(Some(region));
    shim::autocast_enter(if amp.fp16 { 1 } else { 2 });
    let result = work();
    shim::autocast_leave();
    // A `Vec` drops its elements from the first to the last.
    drop(REGION.replace(outer));
    result
}

/// Returns a weight as a matrix product under autocast reads it.
///
/// A trained weight is cast once per region; one that is frozen or a copy is cast each time.
pub(crate) fn weight(weight: &Tensor) -> Result<Tensor> {
    let known = REGION.with_borrow(|region| region.as_ref().map(|region| (region.kind, region.cast_of(weight))));
    match known {
        None => Ok(weight.shallow_clone()),
        Some((_, Some(cast))) => Ok(cast),
        Some((kind, None)) if weight.kind() == Kind::Float => {
            if !(weight.requires_grad() && weight.is_leaf()) {
                return weight.f_to_kind(kind);
            }
            // PyTorch records the casts that it caches even under `no_grad`, because the region may go on with
            // gradients. A matrix product with such a cast folds the batch dimensions of its other operand.
            let cast = tch::with_grad(|| weight.f_to_kind(kind))?;
            REGION.with_borrow_mut(|region| region.as_mut().map(|region| region.keep(weight, &cast)));
            Ok(cast)
        }
        Some(_) => Ok(weight.shallow_clone()),
    }
}

/// Returns an activation, or a view of a weight, as a matrix product under autocast reads it: cast each time.
pub(crate) fn activation(tensor: &Tensor) -> Result<Tensor> {
    match REGION.with_borrow(|region| region.as_ref().map(|region| region.kind)) {
        Some(kind) if tensor.kind() == Kind::Float => tensor.f_to_kind(kind),
        _ => Ok(tensor.shallow_clone()),
    }
}

impl Region {
    fn cast_of(&self, weight: &Tensor) -> Option<Tensor> {
        self.positions.get(&weight.data_ptr()).map(|&position| self.casts[position].shallow_clone())
    }

    fn keep(&mut self, weight: &Tensor, cast: &Tensor) {
        self.positions.insert(weight.data_ptr(), self.casts.len());
        self.casts.push(cast.shallow_clone());
    }
}
