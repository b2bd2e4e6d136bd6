//! Resolves parallelism: the number of devices or processes, and what can't be combined with them.

use super::super::card::Cards;
use super::super::model::Model;
use super::super::parallel::{Ddp, Fsdp, Gather, Parallel, ParallelKind, Rank};
use super::super::raw::{JOB, PARALLEL, RawJob, RawParallel, Table};
use super::super::training::{Device, Keep, Precision};
use super::{Job, Resolver};

/// Default number of processes: the devices of a usual machine.
const DEFAULT_RANKS: u64 = 8;

impl Resolver {
    /// Returns the parallelism of a config.
    pub(super) fn parallel(&mut self, job: &mut Table<'_, RawJob>) -> Option<Parallel> {
        let raw = &mut Table::new(job.given(&JOB.parallel)?);
        let before = self.problems.len();
        let kind = self.word(raw, &PARALLEL.kind, ParallelKind::DataParallel);
        if self.problems.len() > before {
            return None;
        }
        self.check_options(kind, raw.given);
        let parallel = match kind {
            ParallelKind::DataParallel => self.data_parallel(raw, job.given),
            ParallelKind::Ddp => Parallel::Ddp { rank: self.rank(raw), ddp: self.ddp(raw) },
            ParallelKind::Fsdp => Parallel::Fsdp(self.fsdp(raw)),
        };
        job.settle(&JOB.parallel, std::mem::take(&mut raw.settled));
        Some(parallel)
    }

    /// Returns the devices of one process, which has no ranks.
    fn data_parallel(&mut self, raw: &mut Table<'_, RawParallel>, job: &RawJob) -> Parallel {
        self.only_of_ranks("ranks", raw.given.ranks);
        self.only_of_ranks("rank", raw.given.rank);
        let gather = self.word(raw, &PARALLEL.gather, Gather::Outputs);
        Parallel::DataParallel { devices: self.devices(raw, job), gather }
    }

    /// Returns the process that is recorded; it has one device.
    fn rank(&mut self, raw: &mut Table<'_, RawParallel>) -> Rank {
        if raw.given.devices.is_some() {
            let hint = "write `ranks` for the number of processes, each of which has its own device";
            self.problem("parallel.devices", "only `data_parallel` uses several devices in one process", hint);
        }
        if raw.given.gather.is_some() {
            self.problem("parallel.gather", "only `data_parallel` has this option", "remove it");
        }
        let ranks = self.number(raw, &PARALLEL.ranks, DEFAULT_RANKS);
        let rank = self.number(raw, &PARALLEL.rank, 0);
        if rank >= ranks {
            let message = format!("{ranks} processes have ranks 0 to {}", ranks - 1);
            self.problem("parallel.rank", message, "write one of these");
        }
        Rank { rank, ranks }
    }

    fn only_of_ranks(&mut self, key: &str, value: Option<u64>) {
        if value.is_some() {
            let hint = format!("remove `{key}`, or choose another kind");
            self.problem(&format!("parallel.{key}"), "`data_parallel` uses one process", hint);
        }
    }

    /// Returns the number of devices in one process; the default is the number of cards.
    fn devices(&mut self, raw: &mut Table<'_, RawParallel>, job: &RawJob) -> u64 {
        // The number of cards is unknown on a real machine, or if `card` itself is wrong.
        let cards = match (job.card.as_deref(), job.device.as_deref()) {
            (Some(cards), None) => Cards::parse(cards).ok().map(|cards| cards.0.len() as u64),
            (None, None) => Some(1),
            _ => None,
        };
        let devices = self.number(raw, &PARALLEL.devices, cards.unwrap_or(2).max(2));
        if let Some(cards) = cards.filter(|cards| *cards < devices) {
            let message = format!("{devices} devices, but `card` lists only {cards}");
            self.problem("parallel.devices", message, format!("for example, write `card = \"{devices}x a100-80gb\"`"));
        }
        devices
    }

    /// Refuses jobs that can't be recorded with their kind of parallelism.
    pub(super) fn check_parallel(&mut self, job: &Job) {
        let Some(parallel) = job.parallel else { return };
        self.check_ddp(job);
        self.check_fsdp(job);
        if !matches!(parallel, Parallel::DataParallel { .. }) {
            return;
        }
        if job.model.is_channels_last() {
            let hint = "write `channels_last = false`";
            self.problem("parallel", "replicas of weights in `channels_last` are not supported", hint);
        }
        if matches!(job.model, Model::Rnn(_)) {
            let hint = "train another model, or remove `parallel`";
            self.problem("parallel", "replicas of recurrent models are not supported", hint);
        }
        if matches!(job.device, Device::Cuda(first) if first != 0) {
            self.problem("parallel", "data parallelism starts at the first device", "write `device = \"cuda:0\"`");
        }
        if job.lora.is_some() {
            self.problem("parallel", "replicas of adapters are not supported", "remove `lora`");
        }
    }

    /// Refuses the options of `ddp` and `fsdp` for other kinds.
    fn check_options(&mut self, kind: ParallelKind, raw: &RawParallel) {
        let (ddp, fsdp) = ((ParallelKind::Ddp, "ddp"), (ParallelKind::Fsdp, "fsdp"));
        for (of, key, is_given) in [
            (ddp, "bucket_mb", raw.bucket_mb.is_some()),
            (ddp, "gradient_as_bucket_view", raw.gradient_as_bucket_view.is_some()),
            (ddp, "static_graph", raw.static_graph.is_some()),
            (ddp, "find_unused_parameters", raw.find_unused_parameters.is_some()),
            (fsdp, "reshard_after_forward", raw.reshard_after_forward.is_some()),
            (fsdp, "mixed_precision", raw.mixed_precision.is_some()),
        ] {
            if is_given && of.0 != kind {
                self.problem(&format!("parallel.{key}"), format!("only `{}` has this option", of.1), "remove it");
            }
        }
    }

    /// Returns the settings of gradient averaging.
    fn ddp(&mut self, raw: &mut Table<'_, RawParallel>) -> Ddp {
        Ddp {
            bucket_mb: self.optional(raw, &PARALLEL.bucket_mb),
            gradient_as_bucket_view: raw.flag(&PARALLEL.gradient_as_bucket_view, false),
            static_graph: raw.flag(&PARALLEL.static_graph, false),
            find_unused_parameters: raw.flag(&PARALLEL.find_unused_parameters, false),
        }
    }

    /// Refuses jobs that can't be recorded with DDP, or that raise an exception in Python.
    fn check_ddp(&mut self, job: &Job) {
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
    }

    /// Returns the settings of sharding.
    fn fsdp(&mut self, raw: &mut Table<'_, RawParallel>) -> Fsdp {
        Fsdp {
            rank: self.rank(raw),
            reshard_after_forward: raw.flag(&PARALLEL.reshard_after_forward, true),
            mixed_precision: raw.flag(&PARALLEL.mixed_precision, false),
        }
    }

    /// Refuses jobs that can't be recorded sharded.
    fn check_fsdp(&mut self, job: &Job) {
        let Some(fsdp) = job.parallel.and_then(|parallel| parallel.fsdp()) else { return };
        if !matches!(job.model, Model::Transformer(_) | Model::Bert(_)) {
            let message = "sharding is supported only for `transformer` and `bert` models";
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
    use super::super::tests::job;
    use crate::{Ddp, Fsdp, Gather, Parallel, Rank};

    #[track_caller]
    fn check(text: &str, parallel: Parallel) {
        assert_eq!(job(text).parallel, Some(parallel));
    }

    #[track_caller]
    fn check_gather(text: &str, devices: u64, gather: Gather) {
        check(text, Parallel::DataParallel { devices, gather });
    }

    #[test]
    fn devices_are_the_cards_unless_said() {
        check_gather("model = 'mlp'\ncard = '4x t4-16gb'\nparallel = {}", 4, Gather::Outputs);
        let fewer = "model = 'mlp'\ncard = '4x t4-16gb'\nparallel = { kind = 'data_parallel', devices = 2 }";
        check_gather(fewer, 2, Gather::Outputs);
        check_gather("model = 'mlp'\ndevice = 'cuda:0'\nparallel = { devices = 8 }", 8, Gather::Outputs);
    }

    #[test]
    fn losses_may_be_all_that_is_gathered() {
        check_gather("model = 'mlp'\ncard = '2x t4-16gb'\nparallel = { gather = 'losses' }", 2, Gather::Losses);
    }

    const USUAL: Ddp =
        Ddp { bucket_mb: None, gradient_as_bucket_view: false, static_graph: false, find_unused_parameters: false };

    #[test]
    fn options_are_those_of_ddp() {
        let rank = Rank { rank: 0, ranks: 8 };
        check("model = 'mlp'\nparallel = { kind = 'ddp' }", Parallel::Ddp { rank, ddp: USUAL });
        check(
            "model = 'mlp'\nparallel = { kind = 'ddp', bucket_mb = 100, gradient_as_bucket_view = true }",
            Parallel::Ddp { rank, ddp: Ddp { bucket_mb: Some(100), gradient_as_bucket_view: true, ..USUAL } },
        );
        check(
            "model = 'mlp'\nparallel = { kind = 'ddp', ranks = 4, rank = 3, static_graph = true }",
            Parallel::Ddp { rank: Rank { rank: 3, ranks: 4 }, ddp: Ddp { static_graph: true, ..USUAL } },
        );
    }

    #[test]
    fn options_are_those_of_fully_shard() {
        let rank = Rank { rank: 0, ranks: 8 };
        let usual = Fsdp { rank, reshard_after_forward: true, mixed_precision: false };
        check("model = 'gpt2'\nparallel = { kind = 'fsdp' }", Parallel::Fsdp(usual));
        check(
            "model = 'bert-base'\nparallel = { kind = 'fsdp', rank = 3, ranks = 4, mixed_precision = true }",
            Parallel::Fsdp(Fsdp { rank: Rank { rank: 3, ranks: 4 }, mixed_precision: true, ..usual }),
        );
        check(
            "model = 'bert-base'\nparallel = { kind = 'fsdp', reshard_after_forward = false }",
            Parallel::Fsdp(Fsdp { reshard_after_forward: false, ..usual }),
        );
    }
}
