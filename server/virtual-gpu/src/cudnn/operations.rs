//! Exports the operations that have their own functions: norms, pooling, dropout, losses and grids.

use std::ffi::c_int;

use super::descriptor::Tensor;
use super::status::SUCCESS;
use crate::answers::{launches, zeros};
use crate::ffi::{Handle, Out};

launches! {
    cudnnBatchNormalizationBackwardEx, cudnnBatchNormalizationForwardInference,
    cudnnBatchNormalizationForwardTrainingEx, cudnnCTCLoss, cudnnCTCLoss_v8, cudnnPoolingForward,
    cudnnSpatialTfGridGeneratorBackward, cudnnSpatialTfGridGeneratorForward,
    cudnnSpatialTfSamplerBackward, cudnnSpatialTfSamplerForward,
}

// Sizes of workspaces, and for norms of the reserve that is kept until the backward pass.
zeros! {
    (usize) after [_ _ _ _ _] =>
        cudnnGetBatchNormalizationTrainingExReserveSpaceSize, cudnnGetCTCLossWorkspaceSize_v8;
    (usize) after [_ _ _ _ _ _ _ _] => cudnnGetCTCLossWorkspaceSize;
}

/// Returns the workspace of a norm over the batch, in bytes.
///
/// Only channels-last tensors in half precision need one: a head, and for each 64 channels a counter and the `words` of
/// 4 bytes that each group of `rows` pixels leaves. So did cuDNN 9.19 on an H200, for all of 24 workspaces of a ResNet-50.
fn norm_bytes(mode: c_int, input: Option<&Tensor>, head: usize, words: usize, rows: usize) -> usize {
    /// `CUDNN_BATCHNORM_SPATIAL_PERSISTENT`.
    const PERSISTENT: c_int = 2;
    match input.and_then(Tensor::half_channels_last) {
        Some((channels, pixels)) if mode == PERSISTENT => {
            head + 4 * channels.div_ceil(64) * (words * pixels.div_ceil(rows) + 1)
        }
        _ => 0,
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    _handle: Handle,
    mode: c_int,
    _operations: c_int,
    input: Option<&Tensor>,
    _added: Handle,
    _output: Handle,
    _statistics: Handle,
    _activation: Handle,
    bytes: Out<usize>,
) -> c_int {
    bytes.put_if_wanted(norm_bytes(mode, input, 1072, 129, 160));
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    _handle: Handle,
    mode: c_int,
    _operations: c_int,
    input: Option<&Tensor>,
    _output: Handle,
    _output_gradient: Handle,
    _added_gradient: Handle,
    _input_gradient: Handle,
    _statistics: Handle,
    _activation: Handle,
    bytes: Out<usize>,
) -> c_int {
    bytes.put_if_wanted(norm_bytes(mode, input, 1056, 128, 96));
    SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_in_channels_last_ask_for_what_an_h200_gave() {
        let mut tensor = Tensor::default();
        tensor.set_packed(2, &[64, 64, 112, 112]);
        assert_eq!(norm_bytes(2, Some(&tensor), 1072, 129, 160), 0);
        for (channels, side, forward, backward) in [
            (64, 112, 2_590_364, 4_282_916),
            (256, 56, 2_591_408, 4_283_440),
            (128, 28, 325_128, 536_616),
            (1024, 14, 653_360, 1_074_272),
            (512, 7, 83_664, 136_256),
        ] {
            let tensor = Tensor::channels_last(2, [64, channels, side, side]);
            let both = [(1072, 129, 160), (1056, 128, 96)].map(|(a, b, c)| norm_bytes(2, Some(&tensor), a, b, c));
            assert_eq!(both, [forward, backward]);
            assert_eq!(norm_bytes(1, Some(&tensor), 1072, 129, 160), 0);
        }
    }
}
