//! Operations of a tensor and a number that return errors where tch's own functions would panic.
//!
//! tch frees its C++ scalar before it checks for an exception, and that free panics on the exception of the operation.
#![allow(unsafe_code, reason = "tensors cross to C++ as pointers")]

use std::ffi::c_int;

use tch::{Device, Kind, Tensor};

use crate::Result;

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

/// Defines operations by their names, what they return, and their names in `Operation` of `shim/numbers.cpp`, whose
/// order is that of the rows.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($($other:ident)?) -> $result:tt = $operation:ident;)*) => {
        #[derive(Clone, Copy)]
        #[repr(i32)]
        enum Operation {
            $($operation,)*
        }

        /// Operations of a tensor and a number; those that end in `_` work in place.
        pub trait Numbers: Sized {
            $($(#[$doc])* fn $name(&self, $($other: &Self,)? number: impl Into<Number>) -> Result<$result>;)*
        }

        impl Numbers for Tensor {
            $(fn $name(&self, $($other: &Self,)? number: impl Into<Number>) -> Result<$result> {
                let other = None::<&Self>$(.or(Some($other)))?;
                operations!(@returned $result compute(Operation::$operation, self, other, number.into()))
            })*
        }
    };
    (@returned Self $computed:expr) => { $computed };
    (@returned () $computed:expr) => { $computed.map(drop) };
}

operations! {
    /// `tensor + number`
    add_number() -> Self = Add;
    /// `tensor += number`
    add_number_() -> () = AddInPlace;
    /// `tensor - number`
    subtract_number() -> Self = Subtract;
    /// `tensor * number`
    multiply_number() -> Self = Multiply;
    /// `tensor *= number`
    multiply_number_() -> () = MultiplyInPlace;
    /// `tensor / number`
    divide_number() -> Self = Divide;
    /// `tensor ** number`
    power_number() -> Self = Power;
    /// `torch.clamp(tensor, max=number)`
    at_most_number() -> Self = AtMost;
    /// `tensor == number`
    equal_number() -> Self = Equal;
    /// `tensor != number`
    not_equal_number() -> Self = NotEqual;
    /// `tensor.lerp_(end, number)`
    lerp_number_(end) -> () = LerpInPlace;
    /// `torch.where(condition, tensor, number)`
    where_number(condition) -> Self = Where;
    /// `tensor.fill_(number)`
    fill_number_() -> () = FillInPlace;
}

argument! {
    Operation as c_int = |operation| operation as c_int;
    Number as Number = |number| number;
    Device as c_int = |device| if let Device::Cuda(index) = device { index as c_int } else { -1 };
}

wrap! {
    /// Computes an operation; the new tensor may be a new handle of `tensor`.
    fn compute(operation: Operation, tensor: &Tensor, other: Option<&Tensor>, number: Number) -> Tensor
        = snapscope_number;
    /// Returns the integers below `end`: `torch.arange(end, device=device)`.
    pub fn range(end: i64, device: Device) -> Tensor = snapscope_range;
}

/// Returns a tensor without dimensions that holds `value`.
pub fn full(value: impl Into<Number>, kind: Kind, device: Device) -> Result<Tensor> {
    let tensor = Tensor::f_empty([0_i64; 0], (kind, device))?;
    tensor.fill_number_(value)?;
    Ok(tensor)
}
