//! Several devices: as many as there are cards, and a model that replicas can be made of.

use super::super::card::Cards;
use super::super::model::Model;
use super::super::parallel::{KINDS, Parallel, ParallelKind};
use super::super::raw::RawJob;
use super::super::training::{Device, Job};
use super::Resolver;

impl Resolver {
    /// How a config uses several devices.
    pub(super) fn parallel(&mut self, raw: &RawJob) -> Option<Parallel> {
        let parallel = raw.parallel.as_ref()?;
        let kind = self.choice("parallel.kind", parallel.kind.as_deref(), ParallelKind::DataParallel, KINDS);
        // None are known on a real machine, or where the cards have a problem of their own.
        let cards = match (raw.card.as_deref(), raw.device.as_deref()) {
            (Some(cards), None) => Cards::parse(cards).ok().map(|cards| cards.0.len() as u64),
            (None, None) => Some(1),
            _ => None,
        };
        let devices = self.whole("parallel.devices", parallel.devices, cards.unwrap_or(2).max(2));
        if let Some(cards) = cards.filter(|cards| *cards < devices) {
            let message = format!("{devices} devices, but `card` has {cards}");
            self.problem("parallel.devices", message, format!("write for example `card = \"{devices}x a100-80gb\"`"));
        }
        match kind {
            ParallelKind::DataParallel => Some(Parallel::DataParallel { devices }),
        }
    }

    /// What replicas cannot be made of.
    pub(super) fn check_parallel(&mut self, job: &Job) {
        if job.parallel.is_none() {
            return;
        }
        if matches!(&job.model, Model::ResNet(resnet) if resnet.channels_last) {
            let hint = "write `channels_last = false`";
            self.problem("parallel", "replicas of weights in `channels_last` are not recorded", hint);
        }
        if matches!(job.model, Model::Rnn(_)) {
            let hint = "train another model, or leave out `parallel`";
            self.problem("parallel", "replicas of recurrent models are not recorded", hint);
        }
        if matches!(job.device, Device::Cuda(first) if first != 0) {
            self.problem("parallel", "its devices begin with the first", "write `device = \"cuda:0\"`");
        }
        if job.lora.is_some() {
            self.problem("parallel", "replicas of adapters are not recorded", "leave out `lora`");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::job::{Job, Parallel, Problem, RawJob};

    fn resolve(text: &str) -> Result<Job, Vec<Problem>> {
        RawJob::from_toml(text).unwrap().resolve()
    }

    #[track_caller]
    fn check(text: &str, devices: u64) {
        let job = resolve(text).unwrap();
        assert_eq!(job.parallel, Some(Parallel::DataParallel { devices }));
        assert_eq!(RawJob::from_json(&job.to_json()).unwrap().resolve().unwrap(), job);
    }

    #[track_caller]
    fn check_problem(text: &str, problem: &str) {
        let problems = resolve(text).unwrap_err();
        assert_eq!(problems.iter().map(Problem::to_string).collect::<Vec<_>>(), [problem]);
    }

    #[test]
    fn devices_are_the_cards_unless_said() {
        check("model = 'mlp'\ncard = '4x t4-16gb'\nparallel = {}", 4);
        check("model = 'mlp'\ncard = '4x t4-16gb'\nparallel = { kind = 'data_parallel', devices = 2 }", 2);
        check("model = 'mlp'\ndevice = 'cuda:0'\nparallel = { devices = 8 }", 8);
    }

    #[test]
    fn what_does_not_fit_is_a_problem() {
        check_problem(
            "model = 'mlp'\nparallel = { devices = 4 }",
            "parallel.devices: 4 devices, but `card` has 1; write for example `card = \"4x a100-80gb\"`",
        );
        check_problem(
            "model = { preset = 'resnet18', channels_last = true }\ncard = '2x t4-16gb'\nparallel = {}",
            "parallel: replicas of weights in `channels_last` are not recorded; write `channels_last = false`",
        );
        check_problem(
            "model = 'gpt2'\ncard = '2x t4-16gb'\nparallel = {}\nlora = {}",
            "parallel: replicas of adapters are not recorded; leave out `lora`",
        );
        check_problem(
            "model = 'mlp'\ndevice = 'cuda:1'\nparallel = {}",
            "parallel: its devices begin with the first; write `device = \"cuda:0\"`",
        );
    }
}
