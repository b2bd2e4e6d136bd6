//! Operations that optimizers consist of and tch lacks, mostly those on lists of tensors.
#![allow(unsafe_code, reason = "every call into shim/lists.cpp is here")]

use std::ffi::c_void;
use std::ops::Deref;

use tch::Tensor;

use crate::Result;
use crate::shim::{Message, Pointer, RawList, check, owned, pointer};

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

argument! {
    &FusedAdam<'_> as *const c_void = |with| std::ptr::from_ref(with).cast();
    &FusedSgd<'_> as *const c_void = |with| std::ptr::from_ref(with).cast();
    &List as RawList = |list| list.raw();
}

unsafe extern "C" {
    fn snapscope_foreach_add(list: RawList, other: RawList, alpha: f64, out: *mut Pointer) -> Message;
    fn snapscope_foreach_div_(list: RawList, divisors: *const f64) -> Message;
    fn snapscope_foreach_sqrt(list: RawList, out: *mut Pointer) -> Message;
    fn snapscope_foreach_norm(list: RawList, out: *mut Pointer) -> Message;
    fn snapscope_foreach_addcdiv_(list: RawList, a: RawList, b: RawList, values: *const f64) -> Message;
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
        Ok(out.into_iter().map(owned).collect())
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

    /// Adds `value * a / b` in place, with one value for each tensor.
    pub(super) fn addcdiv_(&self, a: &Self, b: &Self, values: &[f64]) -> Result<()> {
        assert_eq!(values.len(), self.len());
        // SAFETY: see `List`; there is a value for each tensor.
        check(unsafe { snapscope_foreach_addcdiv_(self.raw(), a.raw(), b.raw(), values.as_ptr()) })
    }
}

wrap! { impl List {
    /// Adds `alpha * other` in place.
    pub(super) fn add_(&self, other: &List, alpha: f64) = snapscope_foreach_add_;
    pub(super) fn add_scalar_(&self, scalar: f64) = snapscope_foreach_add_scalar_;
    pub(super) fn sub_(&self, other: &List) = snapscope_foreach_sub_;
    pub(super) fn mul_scalar_(&self, scalar: f64) = snapscope_foreach_mul_scalar_;
    /// Multiplies by a number that is on the device.
    pub(super) fn mul_tensor_(&self, factor: &Tensor) = snapscope_foreach_mul_tensor_;
    pub(super) fn zero_(&self) = snapscope_foreach_zero_;
    /// Moves each tensor towards `end` by the fraction `weight` of the distance.
    pub(super) fn lerp_(&self, end: &List, weight: f64) = snapscope_foreach_lerp_;
    /// Adds `value * a * b` in place.
    pub(super) fn addcmul_(&self, a: &List, b: &List, value: f64) = snapscope_foreach_addcmul_;
    /// Multiplies gradients by `inverse_scale`, and sets `found_inf` to 1 if one is not finite.
    pub(super) fn unscale_(&self, found_inf: &Tensor, inverse_scale: &Tensor) = snapscope_unscale_;
} }

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

wrap! {
    /// Runs Adam in one kernel.
    pub(super) fn fused_adam_(
        weights: &List, gradients: &List, averages: &List, squares: &List, steps: &List, with: &FusedAdam<'_>
    ) = snapscope_fused_adam_;
    /// Runs stochastic gradient descent in one kernel; `buffers` is empty without momentum.
    pub(super) fn fused_sgd_(
        weights: &List, gradients: &List, buffers: &List, with: &FusedSgd<'_>
    ) = snapscope_fused_sgd_;
    pub(super) fn clone(tensor: &Tensor) -> Tensor = snapscope_clone;
    /// Returns the Euclidean norm of all elements.
    pub(super) fn norm(tensor: &Tensor) -> Tensor = snapscope_norm;
    /// Returns `tensor + alpha * other` in a new tensor.
    pub(super) fn add(tensor: &Tensor, other: &Tensor, alpha: f64) -> Tensor = snapscope_add;
    /// Adds `alpha * other` in place.
    pub(super) fn add_(tensor: &Tensor, other: &Tensor, alpha: f64) = snapscope_add_;
    /// Adds `value * a * b` in place.
    pub(super) fn addcmul_(tensor: &Tensor, a: &Tensor, b: &Tensor, value: f64) = snapscope_addcmul_;
    /// Adds `value * a / b` in place.
    pub(super) fn addcdiv_(tensor: &Tensor, a: &Tensor, b: &Tensor, value: f64) = snapscope_addcdiv_;
}

/// Drops the gradient of a parameter: `parameter.grad = None`.
pub(super) fn reset_gradient(parameter: &Tensor) {
    // SAFETY: the handle lives.
    unsafe { snapscope_reset_gradient(pointer(parameter)) }
}
