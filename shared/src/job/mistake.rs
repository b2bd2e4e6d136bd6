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
    /// `total_loss += loss`: the sum has the graphs of all steps, as far as backward has not freed them.
    SumLosses,
    /// `nodes.append(loss.grad_fn)`: each graph stays, as far as backward has not freed it.
    KeepGradFns,
    /// `self.state = state` without `detach()`: each batch's graph leads into those of all before it.
    ChainHiddenState,
    /// `self.attended = attended` in each layer: with checkpointing it is the second one, which has a graph.
    CacheActivations,
    /// `layer.register_forward_hook(…)` that appends each output to a list.
    HookActivations,
    /// `loss.backward(retain_graph=True)`: what backward would have freed stays as long as the loss.
    RetainGraph,
    /// `total = total + loss`, and one backward for all micro batches: their graphs are there at once.
    BackwardOnce,
    /// No `optimizer.zero_grad()`: gradients stay and grow into each other.
    NeverZeroGrad,
    /// `torch.cuda.empty_cache()` after each step: each step asks CUDA for its memory again.
    EmptyCacheEveryStep,
    /// The loss behind the region of autocast: it has the logits' 16 bits.
    LossOutsideAutocast,
    /// `labels.to("cuda:1")`, and the logits after them: the loss is computed on a second device.
    TargetOnOtherDevice,
}

/// The mistakes by name, in the order of the reference.
pub(super) const MISTAKES: Names<Mistake> = &[
    ("keep_losses", Mistake::KeepLosses),
    ("keep_outputs_forever", Mistake::KeepOutputs),
    ("allocate_in_loop", Mistake::AllocateInLoop),
    ("keep_batches", Mistake::KeepBatches),
    ("keep_gradients", Mistake::KeepGradients),
    ("keep_evaluation_losses", Mistake::KeepEvaluationLosses),
    ("sum_losses", Mistake::SumLosses),
    ("keep_grad_fns", Mistake::KeepGradFns),
    ("chain_hidden_state", Mistake::ChainHiddenState),
    ("cache_activations", Mistake::CacheActivations),
    ("hook_activations", Mistake::HookActivations),
    ("retain_graph", Mistake::RetainGraph),
    ("backward_once", Mistake::BackwardOnce),
    ("never_zero_grad", Mistake::NeverZeroGrad),
    ("empty_cache_every_step", Mistake::EmptyCacheEveryStep),
    ("loss_outside_autocast", Mistake::LossOutsideAutocast),
    ("target_on_other_device", Mistake::TargetOnOtherDevice),
];
