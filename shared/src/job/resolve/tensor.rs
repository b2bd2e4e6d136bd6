//! Resolves tensor parallelism, which needs a model whose layers can be split into equal parts.

use super::super::attention::Attention;
use super::super::data::Spread;
use super::super::model::{Model, Transformer, TransformerFamily};
use super::super::parallel::{Parallel, ParallelKind};
use super::super::rank::Rank;
use super::super::raw::{PARALLEL, RawParallel};
use super::super::resolved::Job;
use super::super::saving::{Keep, OptimizerStorage};
use super::super::training::{OptimizerKind, ZeroGrad};
use super::Resolver;
use super::table::Table;

impl Resolver {
    /// Returns the process that is recorded, with its part of every layer.
    pub(super) fn tensor(&mut self, raw: &mut Table<'_, RawParallel>) -> Parallel {
        let rank = self.rank(raw);
        Parallel::Tensor { rank, sequence_parallel: raw.flag(&PARALLEL.sequence_parallel, false) }
    }

    /// Refuses the option of `tensor` for other kinds.
    pub(super) fn only_of_tensor(&mut self, kind: ParallelKind, raw: &RawParallel) {
        if raw.sequence_parallel.is_some() && kind != ParallelKind::Tensor {
            self.problem("parallel.sequence_parallel", "only `tensor` has this option", "remove it");
        }
    }

    /// Refuses jobs that can't be split among the processes.
    pub(super) fn check_tensor(&mut self, job: &Job) {
        let Some(Parallel::Tensor { rank: Rank { ranks, .. }, sequence_parallel }) = job.parallel else { return };
        let Model::Transformer(model) = &job.model else {
            let hint = "train a transformer with the architecture `llama`, or choose another kind";
            self.problem("parallel.kind", "the layers of this model cannot be divided", hint);
            return;
        };
        if model.family != TransformerFamily::Llama {
            let hint = "write `architecture = \"llama\"`, or choose another kind";
            self.problem("parallel.kind", "`parallelize_module` does not support the layers of `gpt2`", hint);
            return;
        }
        if model.attention_bias || model.mlp_bias {
            let hint = "write `attention_bias = false` and `mlp_bias = false`";
            self.problem("parallel.kind", "biases of row-parallel layers are not supported", hint);
        }
        let grows = job.accumulation > 1;
        let other = [
            (job.saving.keep == Keep::Matmul, "checkpointing.keep", "choose another value"),
            (model.tied_head && grows, "model.tied_head", "write `tied_head = false`, or do not accumulate gradients"),
            (job.zero_grad == ZeroGrad::Zero, "set_to_none", "write `set_to_none = true`"),
            (job.lora.is_some(), "lora", "remove it"),
            (job.saving.loss_chunks.is_some(), "loss", "remove it"),
            (model.experts.is_some(), "model.experts", "remove it"),
            (matches!(job.optimizer.kind, OptimizerKind::Sgd { .. }), "optimizer.kind", "write `adam` or `adamw`"),
            (job.optimizer.storage != OptimizerStorage::Device, "optimizer", "keep its state on the device"),
        ];
        for (_, key, hint) in other.iter().filter(|(is_set, _, _)| *is_set) {
            self.problem(key, "not supported with tensor parallelism", *hint);
        }
        if sequence_parallel && model.attention == Attention::Eager {
            let hint = "choose another `model.attention`";
            self.problem("parallel.sequence_parallel", "the mask of eager attention covers all tokens", hint);
        }
        if sequence_parallel && job.data.lengths != Spread::Fixed {
            let hint = "write `data.lengths = \"fixed\"`";
            self.problem("parallel.sequence_parallel", "samples of varying lengths cannot be divided", hint);
        }
        for (name, count) in divided(model, job.sequence, sequence_parallel) {
            if count % ranks != 0 {
                let message = format!("{count} {name} cannot be divided equally among {ranks} processes");
                self.problem("parallel.ranks", message, "write a divisor");
            }
        }
    }
}

/// Returns the sizes of which each process needs an equal part, with their names.
fn divided(model: &Transformer, sequence: u64, sequence_parallel: bool) -> Vec<(&'static str, u64)> {
    let mut parts = vec![
        ("heads", model.heads),
        ("key-value heads", model.kv_heads),
        ("features in the feed-forward network", model.intermediate),
        ("tokens in the vocabulary", model.vocabulary),
    ];
    if sequence_parallel {
        parts.push(("tokens in a sample", sequence));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_problem, job};
    use crate::job::{Parallel, Rank};

    #[test]
    fn a_part_of_each_layer() {
        let text = "model = 'llama-3-8b'\nparallel = { kind = 'tensor', rank = 3, sequence_parallel = true }";
        let job = job(text);
        let rank = Rank { rank: 3, ranks: 8 };
        assert_eq!(job.parallel, Some(Parallel::Tensor { rank, sequence_parallel: true }));
    }

    #[test]
    fn what_cannot_be_divided_is_a_problem() {
        check_problem(
            "model = 'llama-3-8b'\nparallel = { kind = 'tensor', ranks = 16 }",
            "parallel.ranks: 8 key-value heads cannot be divided equally among 16 processes; write a divisor",
        );
        check_problem(
            "model = 'gpt2'\nparallel = { kind = 'tensor', ranks = 4, sequence_parallel = true }",
            "parallel.kind: `parallelize_module` does not support the layers of `gpt2`; \
             write `architecture = \"llama\"`, or choose another kind",
        );
        check_problem(
            "model = 'resnet50'\nparallel = { kind = 'tensor' }",
            "parallel.kind: the layers of this model cannot be divided; \
             train a transformer with the architecture `llama`, or choose another kind",
        );
        check_problem(
            "model = 'llama-3-8b'\nparallel = { kind = 'ddp', sequence_parallel = true }",
            "parallel.sequence_parallel: only `tensor` has this option; remove it",
        );
        check_problem(
            "model = 'llama-3.2-1b'\naccumulation = 2\nparallel = { kind = 'tensor' }",
            "model.tied_head: not supported with tensor parallelism; write `tied_head = false`, or do not accumulate \
             gradients",
        );
    }
}
