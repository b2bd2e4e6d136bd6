//! Mistakes on purpose: what training scripts keep without need, for a recording to show.

use super::names::Names;

/// Something that a training script does and had better not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// `losses.append(loss)`: each loss stays, and the graph behind it as far as backward has not freed it.
    KeepLosses,
    /// `outputs.append(output)`: all that the model returns stays.
    KeepOutputs,
    /// `predictions = torch.cat([predictions, output])`: a tensor that grows, and is allocated anew each time.
    AllocateInLoop,
    /// `batches.append(batch)`: each batch stays on the device.
    KeepBatches,
    /// `gradients.append([p.grad for p in model.parameters()])`: each step's gradients stay.
    KeepGradients,
    /// `losses.append(loss)` in the evaluation.
    KeepEvaluationLosses,
    /// `loss.backward(retain_graph=True)`: what backward would have freed stays as long as the loss.
    RetainGraph,
    /// `total = total + loss`, and one backward for all micro batches: their graphs are there at once.
    BackwardOnce,
    /// No `optimizer.zero_grad()`: gradients stay and grow into each other.
    NeverZeroGrad,
    /// `torch.cuda.empty_cache()` after each step: each step asks CUDA for its memory again.
    EmptyCacheEveryStep,
}

/// The mistakes by name, in the order of the reference.
pub(super) const MISTAKES: Names<Mistake> = &[
    ("keep_losses", Mistake::KeepLosses),
    ("keep_outputs_forever", Mistake::KeepOutputs),
    ("allocate_in_loop", Mistake::AllocateInLoop),
    ("keep_batches", Mistake::KeepBatches),
    ("keep_gradients", Mistake::KeepGradients),
    ("keep_evaluation_losses", Mistake::KeepEvaluationLosses),
    ("retain_graph", Mistake::RetainGraph),
    ("backward_once", Mistake::BackwardOnce),
    ("never_zero_grad", Mistake::NeverZeroGrad),
    ("empty_cache_every_step", Mistake::EmptyCacheEveryStep),
];
