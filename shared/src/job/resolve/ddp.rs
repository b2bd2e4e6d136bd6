//! Resolves distributed data parallelism, and refuses what it can't be combined with.

use super::super::ddp::Ddp;
use super::super::model::Model;
use super::super::parallel::{Parallel, ParallelKind};
use super::super::raw::{PARALLEL, RawParallel};
use super::super::resolved::Job;
use super::Resolver;
use super::table::Table;

impl Resolver {
    /// Returns the settings of gradient averaging.
    pub(super) fn ddp(&mut self, raw: &mut Table<'_, RawParallel>) -> Ddp {
        Ddp {
            bucket_mb: self.optional_whole(raw, &PARALLEL.bucket_mb),
            gradient_as_bucket_view: raw.flag(&PARALLEL.gradient_as_bucket_view, false),
            static_graph: raw.flag(&PARALLEL.static_graph, false),
            find_unused_parameters: raw.flag(&PARALLEL.find_unused_parameters, false),
        }
    }

    /// Refuses the options of `ddp` and `zero1` for other kinds.
    pub(super) fn only_of_ddp(&mut self, kind: ParallelKind, raw: &RawParallel) {
        let of_ddp = [
            ("bucket_mb", raw.bucket_mb.is_some()),
            ("gradient_as_bucket_view", raw.gradient_as_bucket_view.is_some()),
            ("static_graph", raw.static_graph.is_some()),
            ("find_unused_parameters", raw.find_unused_parameters.is_some()),
        ];
        if !matches!(kind, ParallelKind::Ddp | ParallelKind::Zero1) {
            for (key, _) in of_ddp.into_iter().filter(|(_, given)| *given) {
                self.problem(&format!("parallel.{key}"), "only `ddp` and `zero1` have this option", "remove it");
            }
        }
        if kind != ParallelKind::Zero1 && raw.parameters_as_bucket_view.is_some() {
            self.problem("parallel.parameters_as_bucket_view", "only `zero1` has this option", "remove it");
        }
    }

    /// Refuses jobs that can't be recorded with DDP, or that raise an exception in Python.
    pub(super) fn check_ddp(&mut self, job: &Job) {
        let Some((_, ddp)) = job.parallel.and_then(|parallel| parallel.ddp()) else { return };
        if job.lora.is_some() {
            self.problem("parallel", "adapters are not supported with several processes", "remove `lora`");
        }
        if job.evaluation.is_some_and(|evaluation| !evaluation.no_grad) {
            let message = "`DistributedDataParallel` raises an exception if a forward pass has no backward pass";
            self.problem("evaluation.no_grad", message, "write `no_grad = true`");
        }
        if ddp.static_graph && job.accumulation > 1 {
            let message = "with a static graph, PyTorch fails on micro batches whose gradients are not reduced";
            self.problem("parallel.static_graph", message, "write `static_graph = false` or `accumulation = 1`");
        }
        let views = matches!(job.parallel, Some(Parallel::Zero1 { parameters_as_bucket_view: true, .. }));
        if views && matches!(job.model, Model::Rnn(_)) {
            let message = "the weights of recurrent layers are already views, as cuDNN requires";
            self.problem("parallel.parameters_as_bucket_view", message, "write `parameters_as_bucket_view = false`");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_problem, job};
    use crate::job::{Ddp, Parallel, Rank};

    const USUAL: Ddp =
        Ddp { bucket_mb: None, gradient_as_bucket_view: false, static_graph: false, find_unused_parameters: false };

    #[track_caller]
    fn check(text: &str, parallel: Parallel) {
        let job = job(text);
        assert_eq!(job.parallel, Some(parallel));
    }

    #[test]
    fn options_are_those_of_pytorch() {
        let rank = Rank { rank: 0, ranks: 8 };
        check("model = 'mlp'\nparallel = { kind = 'ddp' }", Parallel::Ddp { rank, ddp: USUAL });
        check(
            "model = 'mlp'\nparallel = { kind = 'ddp', bucket_mb = 100, gradient_as_bucket_view = true }",
            Parallel::Ddp { rank, ddp: Ddp { bucket_mb: Some(100), gradient_as_bucket_view: true, ..USUAL } },
        );
        check(
            "model = 'mlp'\nparallel = { kind = 'zero1', ranks = 4, rank = 3, static_graph = true }",
            Parallel::Zero1 {
                rank: Rank { rank: 3, ranks: 4 },
                ddp: Ddp { static_graph: true, ..USUAL },
                parameters_as_bucket_view: false,
            },
        );
    }

    #[test]
    fn what_does_not_fit_is_a_problem() {
        check_problem(
            "model = 'mlp'\ncard = '2x t4-16gb'\nparallel = { bucket_mb = 25 }",
            "parallel.bucket_mb: only `ddp` and `zero1` have this option; remove it",
        );
        check_problem(
            "model = 'mlp'\nparallel = { kind = 'ddp', parameters_as_bucket_view = true }",
            "parallel.parameters_as_bucket_view: only `zero1` has this option; remove it",
        );
        check_problem(
            "model = 'mlp'\nevaluation = { no_grad = false }\nparallel = { kind = 'ddp' }",
            "evaluation.no_grad: `DistributedDataParallel` raises an exception if a forward pass has no backward pass; \
             write `no_grad = true`",
        );
        check_problem(
            "model = 'gpt2'\nlora = {}\nparallel = { kind = 'zero1' }",
            "parallel: adapters are not supported with several processes; remove `lora`",
        );
    }
}
