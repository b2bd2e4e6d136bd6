//! Implements convolutions of the older interface, which PyTorch takes if `TORCH_CUDNN_V8_API_DISABLED` is set.

use std::ffi::c_int;

use super::status::{BAD_PARAMETER, SUCCESS};
use super::work_space;
use crate::answers::launches;
use crate::ffi::{Handle, Out};

/// An algorithm and its cost (`cudnnConvolution…AlgoPerf_t`, which is the same for all three directions).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Algorithm {
    algorithm: c_int,
    status: c_int,
    milliseconds: f32,
    work_space_bytes: usize,
    deterministic: c_int,
    math: c_int,
    reserved: [c_int; 3],
}

impl Algorithm {
    /// Returns the only algorithm, which is deterministic and works for every shape.
    ///
    /// Its number stands for the matrix product with precomputed indices, and for that product's counterparts backward.
    fn only() -> Self {
        Self {
            algorithm: 1,
            status: SUCCESS,
            milliseconds: 0.0,
            work_space_bytes: work_space::of_convolution(),
            deterministic: 1,
            math: 0,
            reserved: [0; 3],
        }
    }
}

/// Writes the only algorithm to the results of a caller that has room for it.
fn give(wanted: c_int, found: Out<c_int>, results: Out<Algorithm>) -> c_int {
    if wanted < 1 || !results.put(Algorithm::only()) {
        return BAD_PARAMETER;
    }
    found.put_if_wanted(1);
    SUCCESS
}

/// Defines the functions that choose an algorithm by heuristics.
macro_rules! choices {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(
                _handle: Handle, _first: Handle, _second: Handle, _convolution: Handle, _third: Handle,
                wanted: c_int, found: Out<c_int>, results: Out<Algorithm>,
            ) -> c_int {
                give(wanted, found, results)
            }
        )*
    };
}

/// Defines the functions that choose an algorithm by trying all.
macro_rules! trials {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(
                _handle: Handle, _first: Handle, _first_data: Handle, _second: Handle, _second_data: Handle,
                _convolution: Handle, _third: Handle, _third_data: Handle,
                wanted: c_int, found: Out<c_int>, results: Out<Algorithm>,
            ) -> c_int {
                give(wanted, found, results)
            }
        )*
    };
}

/// Defines the functions that return the workspace of an algorithm.
macro_rules! work_spaces {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(
                _handle: Handle, _first: Handle, _second: Handle, _convolution: Handle, _third: Handle,
                _algorithm: c_int, size: Out<usize>,
            ) -> c_int {
                size.put_if_wanted(work_space::of_convolution());
                SUCCESS
            }
        )*
    };
}

choices! {
    cudnnGetConvolutionForwardAlgorithm_v7, cudnnGetConvolutionBackwardDataAlgorithm_v7,
    cudnnGetConvolutionBackwardFilterAlgorithm_v7,
}

trials! {
    cudnnFindConvolutionForwardAlgorithmEx, cudnnFindConvolutionBackwardDataAlgorithmEx,
    cudnnFindConvolutionBackwardFilterAlgorithmEx,
}

work_spaces! {
    cudnnGetConvolutionForwardWorkspaceSize, cudnnGetConvolutionBackwardDataWorkspaceSize,
    cudnnGetConvolutionBackwardFilterWorkspaceSize,
}

launches! {
    cudnnConvolutionForward, cudnnConvolutionBackwardData, cudnnConvolutionBackwardFilter,
    cudnnConvolutionBiasActivationForward,
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};
    use std::ptr::null_mut;

    use super::*;

    #[test]
    fn an_algorithm_has_the_layout_of_the_library() {
        assert_eq!(size_of::<Algorithm>(), 48);
        assert_eq!((offset_of!(Algorithm, work_space_bytes), offset_of!(Algorithm, deterministic)), (16, 24));
    }

    #[test]
    fn one_algorithm_is_found_by_rule_and_by_trial() {
        let none = null_mut();
        let nothing = Algorithm { algorithm: -1, status: -1, ..Algorithm::only() };
        let (mut found, mut result) = (0, nothing);
        let outs = (Out::to(&mut found), Out::to(&mut result));
        assert_eq!(cudnnGetConvolutionForwardAlgorithm_v7(none, none, none, none, none, 8, outs.0, outs.1), SUCCESS);
        assert_eq!((found, result.algorithm, result.status), (1, 1, SUCCESS));
        let (mut found, mut result) = (0, nothing);
        let outs = (Out::to(&mut found), Out::to(&mut result));
        let find = cudnnFindConvolutionBackwardDataAlgorithmEx;
        assert_eq!(find(none, none, none, none, none, none, none, none, 1, outs.0, outs.1), SUCCESS);
        assert_eq!((found, result.algorithm), (1, 1));
        assert_eq!(find(none, none, none, none, none, none, none, none, 0, outs.0, outs.1), BAD_PARAMETER);
    }
}
