//! Autocast whose casts of weights are freed in the order in which they were made.
//!
//! PyTorch keeps the casts of a region in a hash map of host addresses, and frees them in its order, which differs from
//! run to run. Here layers ask for the cast of their operands themselves: PyTorch then finds nothing left to cast.
//! The casts, their number and their place in the graph are PyTorch's own; only the order of the last frees is ours.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;

use shared::job::Amp;
use tch::{Kind, Tensor};

use crate::{Result, shim};

/// The casts of the region that a thread is in.
#[derive(Debug)]
struct Region {
    kind: Kind,
    casts: Vec<Tensor>,
    /// The position in `casts` of a weight's cast, by where the weight lies.
    positions: HashMap<*mut c_void, usize>,
}

thread_local! {
    static REGION: RefCell<Option<Region>> = const { RefCell::new(None) };
}

/// Runs `work` under autocast on this thread; casts of weights live until it ends.
pub(super) fn run<T>(amp: Amp, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let kind = if amp.fp16 { Kind::Half } else { Kind::BFloat16 };
    let region = Region { kind, casts: Vec::new(), positions: HashMap::new() };
    let outer = REGION.replace(Some(region));
    shim::autocast_enter(if amp.fp16 { 1 } else { 2 });
    let result = work();
    shim::autocast_leave();
    // Dropping a `Vec` drops its first element first.
    drop(REGION.replace(outer));
    result
}

/// A weight as a matrix product under autocast reads it: cast once a region, or each time where it is frozen or a copy.
///
/// # Errors
///
/// There is no memory for the cast.
pub(crate) fn weight(weight: &Tensor) -> Result<Tensor> {
    let known = REGION.with_borrow(|region| region.as_ref().map(|region| (region.kind, region.cast_of(weight))));
    match known {
        None => Ok(weight.shallow_clone()),
        Some((_, Some(cast))) => Ok(cast),
        Some((kind, None)) if weight.kind() == Kind::Float => {
            if !(weight.requires_grad() && weight.is_leaf()) {
                return weight.f_to_kind(kind);
            }
            // PyTorch records what it keeps even under `no_grad`, as the region may go on with gradients; a product
            // of such a cast folds the batch of its other operand.
            let cast = tch::with_grad(|| weight.f_to_kind(kind))?;
            REGION.with_borrow_mut(|region| region.as_mut().map(|region| region.keep(weight, &cast)));
            Ok(cast)
        }
        Some(_) => Ok(weight.shallow_clone()),
    }
}

/// An activation, or a view of a weight, as a matrix product under autocast reads it: cast each time.
///
/// # Errors
///
/// There is no memory for the cast.
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
