//! Operations of a tensor and a number that return errors where tch's own functions would panic.
//!
//! tch frees its C++ scalar before it checks for an exception, and that free panics on the exception of the operation.
#![allow(unsafe_code, reason = "tensors cross to C++ as pointers")]

use std::ffi::{c_int, c_void};

use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::shim::{Message, Pointer, made, pointer};

/// An integer or a real number; the difference decides the dtype of the result.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Number {
    whole: i64,
    real: f64,
    is_whole: bool,
}

impl From<i64> for Number {
    fn from(whole: i64) -> Self {
        Self { whole, real: 0.0, is_whole: true }
    }
}

impl From<f64> for Number {
    fn from(real: f64) -> Self {
        Self { whole: 0, real, is_whole: false }
    }
}

/// Operations in the order of `Operation` in `shim/numbers.cpp`.
#[derive(Clone, Copy)]
#[repr(i32)]
enum Operation {
    Add,
    AddInPlace,
    Subtract,
    Multiply,
    MultiplyInPlace,
    Divide,
    Power,
    AtMost,
    Equal,
    NotEqual,
    LerpInPlace,
    Where,
    FillInPlace,
}

unsafe extern "C" {
    fn snapscope_number(
        operation: c_int,
        tensor: Pointer,
        other: *const c_void,
        number: Number,
        out: *mut Pointer,
    ) -> Message;
    fn snapscope_range(end: i64, device: c_int, out: *mut Pointer) -> Message;
}

/// Operations of a tensor and a number; those that end in `_` work in place.
///
/// Each returns an error if the operation fails.
pub trait Numbers: Sized {
    /// `tensor + number`
    fn add_number(&self, number: impl Into<Number>) -> Result<Self>;
    /// `tensor += number`
    fn add_number_(&self, number: impl Into<Number>) -> Result<()>;
    /// `tensor - number`
    fn subtract_number(&self, number: impl Into<Number>) -> Result<Self>;
    /// `tensor * number`
    fn multiply_number(&self, number: impl Into<Number>) -> Result<Self>;
    /// `tensor *= number`
    fn multiply_number_(&self, number: impl Into<Number>) -> Result<()>;
    /// `tensor / number`
    fn divide_number(&self, number: impl Into<Number>) -> Result<Self>;
    /// `tensor ** number`
    fn power_number(&self, number: impl Into<Number>) -> Result<Self>;
    /// `torch.clamp(tensor, max=number)`
    fn at_most_number(&self, number: impl Into<Number>) -> Result<Self>;
    /// `tensor == number`
    fn equal_number(&self, number: impl Into<Number>) -> Result<Self>;
    /// `tensor != number`
    fn not_equal_number(&self, number: impl Into<Number>) -> Result<Self>;
    /// `tensor.lerp_(end, number)`
    fn lerp_number_(&self, end: &Self, number: impl Into<Number>) -> Result<()>;
    /// `torch.where(condition, tensor, number)`
    fn where_number(&self, condition: &Self, number: impl Into<Number>) -> Result<Self>;
    /// `tensor.fill_(number)`
    fn fill_number_(&self, number: impl Into<Number>) -> Result<()>;
}

impl Numbers for Tensor {
    fn add_number(&self, number: impl Into<Number>) -> Result<Self> {
        compute(Operation::Add, self, None, number.into())
    }

    fn add_number_(&self, number: impl Into<Number>) -> Result<()> {
        compute(Operation::AddInPlace, self, None, number.into()).map(drop)
    }

    fn subtract_number(&self, number: impl Into<Number>) -> Result<Self> {
        compute(Operation::Subtract, self, None, number.into())
    }

    fn multiply_number(&self, number: impl Into<Number>) -> Result<Self> {
        compute(Operation::Multiply, self, None, number.into())
    }

    fn multiply_number_(&self, number: impl Into<Number>) -> Result<()> {
        compute(Operation::MultiplyInPlace, self, None, number.into()).map(drop)
    }

    fn divide_number(&self, number: impl Into<Number>) -> Result<Self> {
        compute(Operation::Divide, self, None, number.into())
    }

    fn power_number(&self, number: impl Into<Number>) -> Result<Self> {
        compute(Operation::Power, self, None, number.into())
    }

    fn at_most_number(&self, number: impl Into<Number>) -> Result<Self> {
        compute(Operation::AtMost, self, None, number.into())
    }

    fn equal_number(&self, number: impl Into<Number>) -> Result<Self> {
        compute(Operation::Equal, self, None, number.into())
    }

    fn not_equal_number(&self, number: impl Into<Number>) -> Result<Self> {
        compute(Operation::NotEqual, self, None, number.into())
    }

    fn lerp_number_(&self, end: &Self, number: impl Into<Number>) -> Result<()> {
        compute(Operation::LerpInPlace, self, Some(end), number.into()).map(drop)
    }

    fn where_number(&self, condition: &Self, number: impl Into<Number>) -> Result<Self> {
        compute(Operation::Where, self, Some(condition), number.into())
    }

    fn fill_number_(&self, number: impl Into<Number>) -> Result<()> {
        compute(Operation::FillInPlace, self, None, number.into()).map(drop)
    }
}

/// Returns the integers below `end`: `torch.arange(end, device=device)`.
///
/// # Errors
///
/// Returns an error if memory runs out.
pub fn range(end: i64, device: Device) -> Result<Tensor> {
    let device = if let Device::Cuda(index) = device { index as c_int } else { -1 };
    // SAFETY: no pointer is passed, except for that of the new tensor.
    made(|out| unsafe { snapscope_range(end, device, out) })
}

/// Returns a tensor without dimensions that holds `value`.
///
/// # Errors
///
/// Returns an error if memory runs out.
pub fn full(value: impl Into<Number>, kind: Kind, device: Device) -> Result<Tensor> {
    let tensor = Tensor::f_empty([0_i64; 0], (kind, device))?;
    tensor.fill_number_(value)?;
    Ok(tensor)
}

fn compute(operation: Operation, tensor: &Tensor, other: Option<&Tensor>, number: Number) -> Result<Tensor> {
    let other = other.map_or(std::ptr::null(), |other| other.as_ptr().cast());
    // SAFETY: both tensors outlive the call; the new tensor may be a new handle of `tensor`.
    made(|out| unsafe { snapscope_number(operation as c_int, pointer(tensor), other, number, out) })
}
