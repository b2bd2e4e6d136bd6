//! Resolves parallelism: the number of devices or processes, and what can't be combined with them.

use super::super::card::Cards;
use super::super::model::Model;
use super::super::parallel::{Gather, Parallel, ParallelKind};
use super::super::rank::Rank;
use super::super::raw::{JOB, PARALLEL, RawJob, RawParallel};
use super::super::resolved::Job;
use super::super::training::Device;
use super::Resolver;
use super::table::Table;

/// Default number of processes: the devices of a usual machine.
const DEFAULT_RANKS: u64 = 8;

impl Resolver {
    /// Returns the parallelism of a config.
    pub(super) fn parallel(&mut self, job: &mut Table<'_, RawJob>) -> Option<Parallel> {
        let raw = &mut Table::new(job.given(&JOB.parallel)?);
        let kind = self.word(raw, &PARALLEL.kind, ParallelKind::DataParallel);
        self.only_of_tensor(kind, raw.given);
        self.only_of_pipeline(kind, raw.given);
        self.only_of_ddp(kind, raw.given);
        self.only_of_fsdp(kind, raw.given);
        let parallel = match kind {
            ParallelKind::DataParallel => self.data_parallel(raw, job.given),
            ParallelKind::Ddp => Parallel::Ddp { rank: self.rank(raw), ddp: self.ddp(raw) },
            ParallelKind::Zero1 => Parallel::Zero1 {
                rank: self.rank(raw),
                ddp: self.ddp(raw),
                parameters_as_bucket_view: raw.flag(&PARALLEL.parameters_as_bucket_view, false),
            },
            ParallelKind::Fsdp => Parallel::Fsdp(self.fsdp(raw)),
            ParallelKind::Tensor => self.tensor(raw),
            ParallelKind::Pipeline => self.pipeline(raw, job.given.batch.unwrap_or(1)),
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
    pub(super) fn rank(&mut self, raw: &mut Table<'_, RawParallel>) -> Rank {
        if raw.given.devices.is_some() {
            let hint = "write `ranks` for the number of processes, each of which has its own device";
            self.problem("parallel.devices", "only `data_parallel` uses several devices in one process", hint);
        }
        if raw.given.gather.is_some() {
            self.problem("parallel.gather", "only `data_parallel` has this option", "remove it");
        }
        let ranks = self.whole(raw, &PARALLEL.ranks, DEFAULT_RANKS);
        let rank = self.whole(raw, &PARALLEL.rank, 0);
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
        let devices = self.whole(raw, &PARALLEL.devices, cards.unwrap_or(2).max(2));
        if let Some(cards) = cards.filter(|cards| *cards < devices) {
            let message = format!("{devices} devices, but `card` lists only {cards}");
            self.problem("parallel.devices", message, format!("for example, write `card = \"{devices}x a100-80gb\"`"));
        }
        devices
    }

    /// Refuses jobs that can't be recorded with their kind of parallelism.
    pub(super) fn check_parallel(&mut self, job: &Job) {
        let Some(parallel) = job.parallel else { return };
        self.check_tensor(job);
        self.check_pipeline(job);
        self.check_ddp(job);
        self.check_fsdp(job);
        if !matches!(parallel, Parallel::DataParallel { .. }) {
            return;
        }
        if job.model.is_channels_last() {
            let hint = "write `channels_last = false`";
            self.problem("parallel", "replicas of weights in `channels_last` are not supported", hint);
        }
        if matches!(job.model, Model::Unet(_)) {
            let hint = "train another model, or remove `parallel`";
            self.problem("parallel", "replicas of U-Nets are not supported", hint);
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
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_problem, job};
    use crate::job::{Gather, Parallel};

    #[track_caller]
    fn check(text: &str, devices: u64) {
        check_gather(text, devices, Gather::Outputs);
    }

    #[track_caller]
    fn check_gather(text: &str, devices: u64, gather: Gather) {
        let job = job(text);
        assert_eq!(job.parallel, Some(Parallel::DataParallel { devices, gather }));
    }

    #[test]
    fn devices_are_the_cards_unless_said() {
        check("model = 'mlp'\ncard = '4x t4-16gb'\nparallel = {}", 4);
        check("model = 'mlp'\ncard = '4x t4-16gb'\nparallel = { kind = 'data_parallel', devices = 2 }", 2);
        check("model = 'mlp'\ndevice = 'cuda:0'\nparallel = { devices = 8 }", 8);
    }

    #[test]
    fn ranks_are_those_of_one_run() {
        check_problem(
            "model = 'mlp'\ncard = '4x t4-16gb'\nparallel = { ranks = 4 }",
            "parallel.ranks: `data_parallel` uses one process; remove `ranks`, or choose another kind",
        );
    }

    #[test]
    fn losses_may_be_all_that_is_gathered() {
        check_gather("model = 'mlp'\ncard = '2x t4-16gb'\nparallel = { gather = 'losses' }", 2, Gather::Losses);
    }

    #[test]
    fn what_does_not_fit_is_a_problem() {
        check_problem(
            "model = 'mlp'\nparallel = { devices = 4 }",
            "parallel.devices: 4 devices, but `card` lists only 1; for example, write `card = \"4x a100-80gb\"`",
        );
        check_problem(
            "model = { preset = 'resnet18', channels_last = true }\ncard = '2x t4-16gb'\nparallel = {}",
            "parallel: replicas of weights in `channels_last` are not supported; write `channels_last = false`",
        );
        check_problem(
            "model = 'gpt2'\ncard = '2x t4-16gb'\nparallel = {}\nlora = {}",
            "parallel: replicas of adapters are not supported; remove `lora`",
        );
        check_problem(
            "model = 'lstm-medium'\ncard = '2x t4-16gb'\nparallel = {}",
            "parallel: replicas of recurrent models are not supported; train another model, or remove `parallel`",
        );
        check_problem(
            "model = 'mlp'\ndevice = 'cuda:1'\nparallel = {}",
            "parallel: data parallelism starts at the first device; write `device = \"cuda:0\"`",
        );
    }
}
