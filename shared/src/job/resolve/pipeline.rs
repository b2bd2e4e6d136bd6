//! Resolves pipelines, which need a model that is a sequence of layers and a batch that can be split.

use super::super::attention::Attention;
use super::super::data::Data;
use super::super::model::Model;
use super::super::parallel::{Parallel, ParallelKind};
use super::super::pipeline::{Pipeline, Schedule};
use super::super::rank::Rank;
use super::super::raw::{PARALLEL, RawParallel};
use super::super::resolved::Job;
use super::super::training::Precision;
use super::Resolver;
use super::table::Table;

impl Resolver {
    /// Returns the process that is recorded and the parts of a batch; by default a part is one sample.
    pub(super) fn pipeline(&mut self, raw: &mut Table<'_, RawParallel>, batch: u64) -> Parallel {
        let rank = self.rank(raw);
        let standard = Schedule::OneForwardOneBackward;
        let pipeline = Pipeline {
            micro_batches: self.whole(raw, &PARALLEL.micro_batches, batch),
            schedule: self.word(raw, &PARALLEL.schedule, standard),
        };
        Parallel::Pipeline { rank, pipeline }
    }

    /// Refuses the options of `pipeline` for other kinds.
    pub(super) fn only_of_pipeline(&mut self, kind: ParallelKind, raw: &RawParallel) {
        for (key, set) in [("micro_batches", raw.micro_batches.is_some()), ("schedule", raw.schedule.is_some())] {
            if set && kind != ParallelKind::Pipeline {
                self.problem(&format!("parallel.{key}"), "only `pipeline` has this option", "remove it");
            }
        }
    }

    /// Refuses jobs that can't be recorded with a pipeline.
    pub(super) fn check_pipeline(&mut self, job: &Job) {
        let Some(Parallel::Pipeline { rank, pipeline }) = job.parallel else { return };
        let Model::Transformer(model) = &job.model else {
            let hint = "train a transformer, or choose another kind";
            self.problem("parallel.kind", "pipelines of this model are not supported", hint);
            return;
        };
        if model.layers < rank.ranks {
            let message = format!("{} processes can't share {} layers", rank.ranks, model.layers);
            self.problem("parallel.ranks", message, format!("write at most {}", model.layers));
        }
        self.check_micro_batches(job, rank, pipeline);
        let other = [
            (job.accumulation != 1, "accumulation", "write more `parallel.micro_batches` instead"),
            (job.evaluation.is_some(), "evaluation", "remove it"),
            (job.lora.is_some(), "lora", "remove it"),
            (job.checkpointing, "checkpointing", "remove it"),
            (job.saving.loss_chunks.is_some(), "loss", "remove it"),
            (job.saving.offload_activations, "offload_activations", "remove it"),
            (job.data != Data::default(), "data", "remove it"),
            (model.attention == Attention::Eager, "model.attention", "choose another value"),
            (matches!(job.precision, Precision::Autocast(_)), "precision", "write `fp32`, `tf32` or `bf16`"),
        ];
        for (_, key, hint) in other.iter().filter(|(is_set, _, _)| *is_set) {
            self.problem(key, "not supported with pipelines", *hint);
        }
    }

    fn check_micro_batches(&mut self, job: &Job, rank: Rank, pipeline: Pipeline) {
        let parts = pipeline.micro_batches;
        if !job.batch.is_multiple_of(parts) {
            let message = format!("a batch of {} cannot be split into {parts} equal parts", job.batch);
            self.problem("parallel.micro_batches", message, "write a divisor of `batch`");
        }
        if pipeline.schedule == Schedule::OneForwardOneBackward && parts < rank.ranks {
            let message = format!("{parts} micro batches do not fill {} processes", rank.ranks);
            let hint = format!("write at least {}, or `schedule = \"gpipe\"`", rank.ranks);
            self.problem("parallel.micro_batches", message, hint);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_problem, job};
    use crate::job::{Parallel, Pipeline, Rank, Schedule};

    #[track_caller]
    fn check(text: &str, rank: Rank, pipeline: Pipeline) {
        let job = job(text);
        assert_eq!(job.parallel, Some(Parallel::Pipeline { rank, pipeline }));
    }

    #[test]
    fn a_part_is_a_sample_unless_said() {
        let schedule = Schedule::OneForwardOneBackward;
        check(
            "model = 'gpt2'\nbatch = 16\nparallel = { kind = 'pipeline' }",
            Rank { rank: 0, ranks: 8 },
            Pipeline { micro_batches: 16, schedule },
        );
        check(
            "model = 'gpt2'\nbatch = 8\nparallel = { kind = 'pipeline', rank = 3, ranks = 4, micro_batches = 2, schedule = 'gpipe' }",
            Rank { rank: 3, ranks: 4 },
            Pipeline { micro_batches: 2, schedule: Schedule::Gpipe },
        );
    }

    #[test]
    fn what_does_not_go_through_is_a_problem() {
        check_problem(
            "model = 'gpt2'\nbatch = 4\nparallel = { kind = 'pipeline' }",
            "parallel.micro_batches: 4 micro batches do not fill 8 processes; \
             write at least 8, or `schedule = \"gpipe\"`",
        );
        check_problem(
            "model = 'gpt2'\nbatch = 64\nparallel = { kind = 'pipeline', ranks = 16 }",
            "parallel.ranks: 16 processes can't share 12 layers; write at most 12",
        );
        check_problem(
            "model = 'gpt2'\nbatch = 8\ncheckpointing = true\nparallel = { kind = 'pipeline' }",
            "checkpointing: not supported with pipelines; remove it",
        );
        check_problem(
            "model = 'gpt2'\ncard = '2x t4-16gb'\nparallel = { schedule = 'gpipe' }",
            "parallel.schedule: only `pipeline` has this option; remove it",
        );
    }
}
