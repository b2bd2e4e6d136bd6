//! Operations that optimizers consist of and tch lacks, mostly those on lists of tensors.
#![allow(unsafe_code, reason = "every call into shim/lists.cpp is here")]

use std::ops::Deref;

use tch::Tensor;

use crate::Result;
use crate::shim::{Message, Pointer, RawList, check, made, pointer};

/// Options of `_fused_adam_` and `_fused_adamw_`.
#[repr(C)]
pub(super) struct FusedAdam<'a> {
    /// True for AdamW.
    pub(super) decoupled: bool,
    pub(super) learning_rate: f64,
    pub(super) beta1: f64,
    pub(super) beta2: f64,
    pub(super) weight_decay: f64,
    pub(super) epsilon: f64,
    pub(super) grad_scale: Pointing<'a>,
    pub(super) found_inf: Pointing<'a>,
}

/// Options of `_fused_sgd_`.
#[repr(C)]
pub(super) struct FusedSgd<'a> {
    pub(super) nesterov: bool,
    /// True if the momentum buffers are uninitialized.
    pub(super) first_step: bool,
    pub(super) learning_rate: f64,
    pub(super) momentum: f64,
    pub(super) weight_decay: f64,
    pub(super) grad_scale: Pointing<'a>,
    pub(super) found_inf: Pointing<'a>,
}

/// An optional tensor argument of the fused kernels.
#[repr(transparent)]
pub(super) struct Pointing<'a>(Pointer, std::marker::PhantomData<&'a Tensor>);

impl<'a> From<Option<&'a Tensor>> for Pointing<'a> {
    fn from(tensor: Option<&'a Tensor>) -> Self {
        Self(tensor.map_or(std::ptr::null_mut(), pointer), std::marker::PhantomData)
    }
}

unsafe extern "C" {
    fn snapscope_foreach_add(list: RawList, other: RawList, alpha: f64, out: *mut Pointer) -> Message;
    fn snapscope_foreach_add_(list: RawList, other: RawList, alpha: f64) -> Message;
    fn snapscope_foreach_add_scalar_(list: RawList, scalar: f64) -> Message;
    fn snapscope_foreach_sub_(list: RawList, other: RawList) -> Message;
    fn snapscope_foreach_mul_scalar_(list: RawList, scalar: f64) -> Message;
    fn snapscope_foreach_mul_tensor_(list: RawList, factor: Pointer) -> Message;
    fn snapscope_foreach_div_(list: RawList, divisors: *const f64) -> Message;
    fn snapscope_foreach_sqrt(list: RawList, out: *mut Pointer) -> Message;
    fn snapscope_foreach_norm(list: RawList, out: *mut Pointer) -> Message;
    fn snapscope_foreach_zero_(list: RawList) -> Message;
    fn snapscope_foreach_lerp_(list: RawList, end: RawList, weight: f64) -> Message;
    fn snapscope_foreach_addcmul_(list: RawList, a: RawList, b: RawList, value: f64) -> Message;
    fn snapscope_foreach_addcdiv_(list: RawList, a: RawList, b: RawList, values: *const f64) -> Message;
    fn snapscope_fused_adam_(
        weights: RawList,
        gradients: RawList,
        averages: RawList,
        squares: RawList,
        steps: RawList,
        with: *const FusedAdam,
    ) -> Message;
    fn snapscope_fused_sgd_(weights: RawList, gradients: RawList, buffers: RawList, with: *const FusedSgd) -> Message;
    fn snapscope_unscale_(gradients: RawList, found_inf: Pointer, inverse_scale: Pointer) -> Message;
    fn snapscope_clone(tensor: Pointer, out: *mut Pointer) -> Message;
    fn snapscope_norm(tensor: Pointer, out: *mut Pointer) -> Message;
    fn snapscope_add(tensor: Pointer, other: Pointer, alpha: f64, out: *mut Pointer) -> Message;
    fn snapscope_add_(tensor: Pointer, other: Pointer, alpha: f64) -> Message;
    fn snapscope_addcmul_(tensor: Pointer, a: Pointer, b: Pointer, value: f64) -> Message;
    fn snapscope_addcdiv_(tensor: Pointer, a: Pointer, b: Pointer, value: f64) -> Message;
    fn snapscope_reset_gradient(parameter: Pointer);
}

/// Tensors that an operation on lists reads or changes.
///
/// Every call below is sound for the same reason: the handles live as long as the list, and the callee keeps none.
#[derive(Debug, Default)]
pub(super) struct List {
    tensors: Vec<Tensor>,
    pointers: Vec<Pointer>,
}

impl List {
    fn raw(&self) -> RawList {
        RawList::of(&self.pointers)
    }

    /// Runs an operation that returns one tensor for each tensor of the list.
    fn filled(&self, operation: impl FnOnce(RawList, *mut Pointer) -> Message) -> Result<Self> {
        let mut out = vec![std::ptr::null_mut(); self.pointers.len()];
        check(operation(self.raw(), out.as_mut_ptr()))?;
        // SAFETY: without a message every pointer is a new tensor that belongs to the caller.
        Ok(out.into_iter().map(|tensor: Pointer| unsafe { Tensor::from_ptr(tensor.cast()) }).collect())
    }

    pub(super) fn push(&mut self, tensor: Tensor) {
        self.pointers.push(pointer(&tensor));
        self.tensors.push(tensor);
    }

    /// Returns `self + alpha * other` in new tensors.
    pub(super) fn add(&self, other: &Self, alpha: f64) -> Result<Self> {
        // SAFETY: see `List`.
        self.filled(|list, out| unsafe { snapscope_foreach_add(list, other.raw(), alpha, out) })
    }

    /// Adds `alpha * other` in place.
    pub(super) fn add_(&self, other: &Self, alpha: f64) -> Result<()> {
        // SAFETY: see `List`.
        check(unsafe { snapscope_foreach_add_(self.raw(), other.raw(), alpha) })
    }

    pub(super) fn add_scalar_(&self, scalar: f64) -> Result<()> {
        // SAFETY: see `List`.
        check(unsafe { snapscope_foreach_add_scalar_(self.raw(), scalar) })
    }

    pub(super) fn sub_(&self, other: &Self) -> Result<()> {
        // SAFETY: see `List`.
        check(unsafe { snapscope_foreach_sub_(self.raw(), other.raw()) })
    }

    pub(super) fn mul_scalar_(&self, scalar: f64) -> Result<()> {
        // SAFETY: see `List`.
        check(unsafe { snapscope_foreach_mul_scalar_(self.raw(), scalar) })
    }

    /// Multiplies by a number that is on the device.
    pub(super) fn mul_tensor_(&self, factor: &Tensor) -> Result<()> {
        // SAFETY: see `List`.
        check(unsafe { snapscope_foreach_mul_tensor_(self.raw(), pointer(factor)) })
    }

    /// Divides each tensor by the divisor at its position.
    pub(super) fn div_(&self, divisors: &[f64]) -> Result<()> {
        assert_eq!(divisors.len(), self.len());
        // SAFETY: see `List`; there is a divisor for each tensor.
        check(unsafe { snapscope_foreach_div_(self.raw(), divisors.as_ptr()) })
    }

    /// Returns the square roots in new tensors.
    pub(super) fn sqrt(&self) -> Result<Self> {
        // SAFETY: see `List`.
        self.filled(|list, out| unsafe { snapscope_foreach_sqrt(list, out) })
    }

    /// Returns the Euclidean norm of each tensor.
    pub(super) fn norm(&self) -> Result<Self> {
        // SAFETY: see `List`.
        self.filled(|list, out| unsafe { snapscope_foreach_norm(list, out) })
    }

    pub(super) fn zero_(&self) -> Result<()> {
        // SAFETY: see `List`.
        check(unsafe { snapscope_foreach_zero_(self.raw()) })
    }

    /// Moves each tensor towards `end` by the fraction `weight` of the distance.
    pub(super) fn lerp_(&self, end: &Self, weight: f64) -> Result<()> {
        // SAFETY: see `List`.
        check(unsafe { snapscope_foreach_lerp_(self.raw(), end.raw(), weight) })
    }

    /// Adds `value * a * b` in place.
    pub(super) fn addcmul_(&self, a: &Self, b: &Self, value: f64) -> Result<()> {
        // SAFETY: see `List`.
        check(unsafe { snapscope_foreach_addcmul_(self.raw(), a.raw(), b.raw(), value) })
    }

    /// Adds `value * a / b` in place, with one value for each tensor.
    pub(super) fn addcdiv_(&self, a: &Self, b: &Self, values: &[f64]) -> Result<()> {
        assert_eq!(values.len(), self.len());
        // SAFETY: see `List`; there is a value for each tensor.
        check(unsafe { snapscope_foreach_addcdiv_(self.raw(), a.raw(), b.raw(), values.as_ptr()) })
    }

    /// Multiplies gradients by `inverse_scale`, and sets `found_inf` to 1 if one is not finite.
    pub(super) fn unscale_(&self, found_inf: &Tensor, inverse_scale: &Tensor) -> Result<()> {
        // SAFETY: see `List`.
        check(unsafe { snapscope_unscale_(self.raw(), pointer(found_inf), pointer(inverse_scale)) })
    }
}

impl Deref for List {
    type Target = [Tensor];

    fn deref(&self) -> &[Tensor] {
        &self.tensors
    }
}

impl FromIterator<Tensor> for List {
    fn from_iter<I: IntoIterator<Item = Tensor>>(tensors: I) -> Self {
        let mut list = Self::default();
        tensors.into_iter().for_each(|tensor| list.push(tensor));
        list
    }
}

impl Drop for List {
    /// Drops the tensors from the last to the first, as Python's lists and tuples do.
    fn drop(&mut self) {
        while self.tensors.pop().is_some() {}
    }
}

/// Runs Adam in one kernel.
pub(super) fn fused_adam_(
    weights: &List,
    gradients: &List,
    [averages, squares, steps]: [&List; 3],
    with: &FusedAdam<'_>,
) -> Result<()> {
    let states = (averages.raw(), squares.raw(), steps.raw());
    // SAFETY: see `List`; `with` has the layout of the shim's struct.
    check(unsafe { snapscope_fused_adam_(weights.raw(), gradients.raw(), states.0, states.1, states.2, with) })
}

/// Runs stochastic gradient descent in one kernel; `buffers` is empty without momentum.
pub(super) fn fused_sgd_(weights: &List, gradients: &List, buffers: &List, with: &FusedSgd<'_>) -> Result<()> {
    // SAFETY: see `List`; `with` has the layout of the shim's struct.
    check(unsafe { snapscope_fused_sgd_(weights.raw(), gradients.raw(), buffers.raw(), with) })
}

pub(super) fn clone(tensor: &Tensor) -> Result<Tensor> {
    // SAFETY: the handle lives.
    made(|out| unsafe { snapscope_clone(pointer(tensor), out) })
}

/// Returns the Euclidean norm of all elements.
pub(super) fn norm(tensor: &Tensor) -> Result<Tensor> {
    // SAFETY: the handle lives.
    made(|out| unsafe { snapscope_norm(pointer(tensor), out) })
}

/// Returns `tensor + alpha * other` in a new tensor.
pub(super) fn add(tensor: &Tensor, other: &Tensor, alpha: f64) -> Result<Tensor> {
    // SAFETY: both handles live.
    made(|out| unsafe { snapscope_add(pointer(tensor), pointer(other), alpha, out) })
}

/// Adds `alpha * other` in place.
pub(super) fn add_(tensor: &Tensor, other: &Tensor, alpha: f64) -> Result<()> {
    // SAFETY: both handles live.
    check(unsafe { snapscope_add_(pointer(tensor), pointer(other), alpha) })
}

/// Adds `value * a * b` in place.
pub(super) fn addcmul_(tensor: &Tensor, a: &Tensor, b: &Tensor, value: f64) -> Result<()> {
    // SAFETY: all handles live.
    check(unsafe { snapscope_addcmul_(pointer(tensor), pointer(a), pointer(b), value) })
}

/// Adds `value * a / b` in place.
pub(super) fn addcdiv_(tensor: &Tensor, a: &Tensor, b: &Tensor, value: f64) -> Result<()> {
    // SAFETY: all handles live.
    check(unsafe { snapscope_addcdiv_(pointer(tensor), pointer(a), pointer(b), value) })
}

/// Drops the gradient of a parameter: `parameter.grad = None`.
pub(super) fn reset_gradient(parameter: &Tensor) {
    // SAFETY: the handle lives.
    unsafe { snapscope_reset_gradient(pointer(parameter)) }
}
