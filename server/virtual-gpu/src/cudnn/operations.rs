//! Operations with a function of their own: norms, pooling, dropout, losses, grids.

use crate::answers::{launches, zeros};

launches! {
    cudnnBatchNormalizationBackwardEx, cudnnBatchNormalizationForwardInference,
    cudnnBatchNormalizationForwardTrainingEx, cudnnCTCLoss, cudnnCTCLoss_v8, cudnnPoolingForward,
    cudnnSetDropoutDescriptor, cudnnSpatialTfGridGeneratorBackward, cudnnSpatialTfGridGeneratorForward,
    cudnnSpatialTfSamplerBackward, cudnnSpatialTfSamplerForward,
}

// Work space, and for norms what is kept until the backward pass.
zeros! {
    (usize) after [_ _ _ _ _] =>
        cudnnGetBatchNormalizationTrainingExReserveSpaceSize, cudnnGetCTCLossWorkspaceSize_v8;
    (usize) after [_ _ _ _ _ _ _ _] =>
        cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize, cudnnGetCTCLossWorkspaceSize;
    (usize) after [_ _ _ _ _ _ _ _ _ _] => cudnnGetBatchNormalizationBackwardExWorkspaceSize;
}
