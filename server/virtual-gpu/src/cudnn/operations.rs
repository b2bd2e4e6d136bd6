//! Exports the operations that have their own functions: norms, pooling, dropout, losses and grids.

use crate::answers::{launches, zeros};

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
    (usize) after [_ _ _ _ _ _ _ _] =>
        cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize, cudnnGetCTCLossWorkspaceSize;
    (usize) after [_ _ _ _ _ _ _ _ _ _] => cudnnGetBatchNormalizationBackwardExWorkspaceSize;
}
