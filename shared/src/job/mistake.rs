//! Memory mistakes that a training script makes on purpose, for a recording to show.

use super::names::Names;

/// A memory mistake of a training script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// `losses.append(loss)`: each loss stays alive, with as much of its graph as backward has not freed.
    KeepLosses,
    /// `outputs.append(output)`: everything that the model returns stays alive.
    KeepOutputs,
    /// `predictions = torch.cat([predictions, output])`: the tensor grows and is allocated anew each time.
    AllocateInLoop,
    /// `batches.append(batch)`: each batch stays on the device.
    KeepBatches,
    /// `gradients.append([p.grad for p in model.parameters()])`: the gradients of each step stay alive.
    KeepGradients,
    /// `losses.append(loss)` in the evaluation.
    KeepEvaluationLosses,
    /// `total_loss += loss`: the sum holds the graphs of all steps, as far as backward has not freed them.
    SumLosses,
    /// `nodes.append(loss.grad_fn)`: each graph stays alive, as far as backward has not freed it.
    KeepGradFns,
    /// `self.state = state` without `detach()`: the graph of each batch is connected to those of all batches before it.
    ChainHiddenState,
    /// `self.attended = attended` in each layer: with checkpointing it is the recomputed tensor, which has a graph.
    CacheActivations,
    /// `layer.register_forward_hook(…)` with a hook that appends each output to a list.
    HookActivations,
    /// `loss.backward(retain_graph=True)`: what backward would have freed lives as long as the loss.
    RetainGraph,
    /// `total = total + loss`, and one backward for all micro batches: their graphs are alive at the same time.
    BackwardOnce,
    /// No `optimizer.zero_grad()`: gradients stay allocated and accumulate over the steps.
    NeverZeroGrad,
    /// `torch.cuda.empty_cache()` after each step: each step allocates its memory from CUDA again.
    EmptyCacheEveryStep,
    /// The loss is computed outside of the autocast region, so it has the logits' 16 bits.
    LossOutsideAutocast,
    /// `labels.to("cuda:1")`, and the logits moved there too: the loss is computed on a second device.
    TargetOnOtherDevice,
}

/// Names of the mistakes, in the order of the reference.
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
