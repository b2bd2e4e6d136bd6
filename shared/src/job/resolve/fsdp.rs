//! Resolves full sharding, and refuses what it can't be combined with.

use super::super::fsdp::Fsdp;
use super::super::model::Model;
use super::super::parallel::ParallelKind;
use super::super::raw::{PARALLEL, RawParallel};
use super::super::resolved::Job;
use super::super::saving::Keep;
use super::super::training::Precision;
use super::Resolver;
use super::table::Table;

impl Resolver {
    /// Returns the settings of sharding.
    pub(super) fn fsdp(&mut self, raw: &mut Table<'_, RawParallel>) -> Fsdp {
        Fsdp {
            rank: self.rank(raw),
            reshard_after_forward: raw.flag(&PARALLEL.reshard_after_forward, true),
            mixed_precision: raw.flag(&PARALLEL.mixed_precision, false),
        }
    }

    /// Refuses the options of `fsdp` for other kinds.
    pub(super) fn only_of_fsdp(&mut self, kind: ParallelKind, raw: &RawParallel) {
        let of_fsdp = [
            ("reshard_after_forward", raw.reshard_after_forward.is_some()),
            ("mixed_precision", raw.mixed_precision.is_some()),
        ];
        if kind != ParallelKind::Fsdp {
            for (key, _) in of_fsdp.into_iter().filter(|(_, given)| *given) {
                self.problem(&format!("parallel.{key}"), "only `fsdp` has this option", "remove it");
            }
        }
    }

    /// Refuses jobs that can't be recorded sharded.
    pub(super) fn check_fsdp(&mut self, job: &Job) {
        let Some(fsdp) = job.parallel.and_then(|parallel| parallel.fsdp()) else { return };
        if !matches!(job.model, Model::Transformer(_) | Model::Bert(_) | Model::Vit(_)) {
            let message = "sharding is supported only for `transformer`, `bert` and `vit` models";
            self.problem("parallel.kind", message, "train one of these, or write `kind = \"ddp\"`");
        }
        if job.lora.is_some() {
            self.problem("parallel.kind", "sharded adapters are not supported", "remove `lora`");
        }
        if job.saving.keep != Keep::Nothing {
            let hint = "write `keep = \"nothing\"`";
            self.problem("checkpointing.keep", "selective checkpointing of sharded layers is not supported", hint);
        }
        if matches!(job.precision, Precision::Autocast(_)) {
            let hint = "write `precision = \"fp32\"` and `parallel.mixed_precision = true`";
            self.problem("precision", "autocast would keep casts of all sharded weights at once", hint);
        }
        if fsdp.mixed_precision && job.precision == Precision::Bf16 {
            let hint = "write `precision = \"fp32\"`, or remove `mixed_precision`";
            self.problem("parallel.mixed_precision", "the weights are already in bfloat16", hint);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_problem, job};
    use crate::job::{Fsdp, Rank};

    #[track_caller]
    fn check(text: &str, expected: Fsdp) {
        let job = job(text);
        assert_eq!(job.parallel.and_then(|parallel| parallel.fsdp()), Some(expected));
    }

    #[test]
    fn options_are_those_of_fully_shard() {
        let rank = Rank { rank: 0, ranks: 8 };
        let usual = Fsdp { rank, reshard_after_forward: true, mixed_precision: false };
        check("model = 'gpt2'\nparallel = { kind = 'fsdp' }", usual);
        check(
            "model = 'bert-base'\nparallel = { kind = 'fsdp', rank = 3, ranks = 4, mixed_precision = true }",
            Fsdp { rank: Rank { rank: 3, ranks: 4 }, mixed_precision: true, ..usual },
        );
        check(
            "model = 'vit-b-16'\nparallel = { kind = 'fsdp', reshard_after_forward = false }",
            Fsdp { reshard_after_forward: false, ..usual },
        );
    }

    #[test]
    fn what_is_not_recorded_is_refused_by_name() {
        for model in ["mlp", "resnet18", "vgg16", "sd-1.5", "lstm-medium"] {
            check_problem(
                &format!("model = '{model}'\nparallel = {{ kind = 'fsdp' }}"),
                "parallel.kind: sharding is supported only for `transformer`, `bert` and `vit` models; train one of \
                 these, or write `kind = \"ddp\"`",
            );
        }
        check_problem(
            "model = 'gpt2'\nprecision = 'autocast-bf16'\nparallel = { kind = 'fsdp' }",
            "precision: autocast would keep casts of all sharded weights at once; write `precision = \"fp32\"` \
             and `parallel.mixed_precision = true`",
        );
        check_problem(
            "model = 'gpt2'\nprecision = 'bf16'\nparallel = { kind = 'fsdp', mixed_precision = true }",
            "parallel.mixed_precision: the weights are already in bfloat16; write `precision = \"fp32\"`, or remove \
             `mixed_precision`",
        );
        check_problem(
            "model = 'gpt2'\nparallel = { kind = 'ddp', mixed_precision = true }",
            "parallel.mixed_precision: only `fsdp` has this option; remove it",
        );
        check_problem(
            "model = 'gpt2'\nlora = {}\nparallel = { kind = 'fsdp' }",
            "parallel.kind: sharded adapters are not supported; remove `lora`",
        );
    }
}
