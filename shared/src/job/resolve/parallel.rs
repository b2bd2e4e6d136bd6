//! Resolves parallelism: the number of devices or processes, and what can't be combined with them.

use super::super::card::Cards;
use super::super::model::Model;
use super::super::parallel::{GATHERS, Gather, KINDS, Parallel, ParallelKind};
use super::super::rank::Rank;
use super::super::raw::{RawJob, RawParallel};
use super::super::training::{Device, Job};
use super::Resolver;

/// Default number of processes: the devices of a usual machine.
const DEFAULT_RANKS: u64 = 8;

impl Resolver {
    /// Returns the parallelism of a config.
    pub(super) fn parallel(&mut self, raw: &RawJob) -> Option<Parallel> {
        let parallel = raw.parallel.as_ref()?;
        let kind = self.choice("parallel.kind", parallel.kind.as_deref(), ParallelKind::DataParallel, KINDS);
        self.only_of_tensor(kind, parallel);
        self.only_of_pipeline(kind, parallel);
        self.only_of_ddp(kind, parallel);
        self.only_of_fsdp(kind, parallel);
        if kind == ParallelKind::DataParallel {
            self.only_of_ranks("ranks", parallel.ranks);
            self.only_of_ranks("rank", parallel.rank);
            let gather = self.choice("parallel.gather", parallel.gather.as_deref(), Gather::Outputs, GATHERS);
            return Some(Parallel::DataParallel { devices: self.devices(raw, parallel.devices), gather });
        }
        let rank = self.rank(parallel);
        Some(match kind {
            ParallelKind::DataParallel => unreachable!("it has devices, not ranks"),
            ParallelKind::Ddp => Parallel::Ddp { rank, ddp: self.ddp(parallel) },
            ParallelKind::Zero1 => Parallel::Zero1 {
                rank,
                ddp: self.ddp(parallel),
                parameters_as_bucket_view: parallel.parameters_as_bucket_view.unwrap_or(false),
            },
            ParallelKind::Fsdp => Parallel::Fsdp(self.fsdp(rank, parallel)),
            ParallelKind::Tensor => self.tensor(parallel, rank),
            ParallelKind::Pipeline => self.pipeline(parallel, rank, raw.batch.unwrap_or(1)),
        })
    }

    /// Returns the process that is recorded; it has one device.
    fn rank(&mut self, parallel: &RawParallel) -> Rank {
        if parallel.devices.is_some() {
            let hint = "write `ranks` for the number of processes, each of which has its own device";
            self.problem("parallel.devices", "only `data_parallel` uses several devices in one process", hint);
        }
        if parallel.gather.is_some() {
            self.problem("parallel.gather", "only `data_parallel` has this option", "remove it");
        }
        let ranks = self.whole("parallel.ranks", parallel.ranks, DEFAULT_RANKS);
        let rank = self.whole("parallel.rank", parallel.rank, 0);
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
    fn devices(&mut self, raw: &RawJob, devices: Option<u64>) -> u64 {
        // The number of cards is unknown on a real machine, or if `card` itself is wrong.
        let cards = match (raw.card.as_deref(), raw.device.as_deref()) {
            (Some(cards), None) => Cards::parse(cards).ok().map(|cards| cards.0.len() as u64),
            (None, None) => Some(1),
            _ => None,
        };
        let devices = self.whole("parallel.devices", devices, cards.unwrap_or(2).max(2));
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
