//! Resolves the optimizer, whose defaults are those of `torch.optim`, and the ways to save memory.

use super::super::domain::name_of;
use super::super::model::Model;
use super::super::raw::{
    Betas, JOB, Key, LOSS, OPTIMIZER, RawCheckpointing, RawJob, RawOptimizer, RawSelected, SELECTED, Table,
};
use super::super::training::{
    Amp, Keep, OPTIMIZERS, Optimizer, OptimizerImplementation, OptimizerKind, OptimizerStorage, Precision, Saving,
    ZeroGrad,
};
use super::super::transformer::Attention;
use super::{Job, Resolver};

impl Resolver {
    pub(super) fn optimizer(&mut self, job: &mut Table<'_, RawJob>) -> Optimizer {
        let given = job.given(&JOB.optimizer).cloned().unwrap_or_default();
        let raw = &mut Table::new(&given);
        let kind = self.word(raw, &OPTIMIZER.kind, OptimizerKind::AdamW);
        let usual = Optimizer {
            kind,
            momentum: 0.0,
            nesterov: false,
            betas: (0.9, 0.999),
            epsilon: 1e-8,
            implementation: OptimizerImplementation::Foreach,
            learning_rate: 1e-3,
            weight_decay: if kind == OptimizerKind::AdamW { 0.01 } else { 0.0 },
            storage: OptimizerStorage::Device,
        };
        let options = if kind == OptimizerKind::Sgd { self.sgd(raw, usual) } else { self.adam(raw, usual) };
        let storage = self.storage(raw, kind);
        let optimizer = Optimizer {
            implementation: self.implementation(raw, storage, kind),
            learning_rate: self.number(raw, &OPTIMIZER.learning_rate, usual.learning_rate),
            weight_decay: self.number(raw, &OPTIMIZER.weight_decay, usual.weight_decay),
            storage,
            ..options
        };
        job.settle(&JOB.optimizer, std::mem::take(&mut raw.settled));
        optimizer
    }

    /// Returns the implementation of the step; 8-bit state has only one, which has no word.
    ///
    /// The default is PyTorch's own, or torchao's for AdamW on the host.
    fn implementation(
        &mut self,
        raw: &mut Table<'_, RawOptimizer>,
        storage: OptimizerStorage,
        kind: OptimizerKind,
    ) -> OptimizerImplementation {
        let key = &OPTIMIZER.implementation;
        let usual = match storage {
            OptimizerStorage::Host { .. } if kind == OptimizerKind::AdamW => OptimizerImplementation::Fused,
            _ => OptimizerImplementation::Foreach,
        };
        if storage == OptimizerStorage::EightBit {
            self.choice(key.path, raw.given(key), usual, key.domain)
        } else {
            self.word(raw, key, usual)
        }
    }

    fn sgd(&mut self, raw: &mut Table<'_, RawOptimizer>, usual: Optimizer) -> Optimizer {
        self.refuse(raw, &OPTIMIZER.betas, usual.kind);
        self.refuse(raw, &OPTIMIZER.epsilon, usual.kind);
        let momentum = self.number(raw, &OPTIMIZER.momentum, usual.momentum);
        let nesterov = raw.flag(&OPTIMIZER.nesterov, usual.nesterov);
        if nesterov && momentum == 0.0 {
            let hint = "for example, write momentum = 0.9";
            self.problem("optimizer.nesterov", "Nesterov momentum needs a momentum above 0", hint);
        }
        Optimizer { momentum, nesterov, ..usual }
    }

    fn adam(&mut self, raw: &mut Table<'_, RawOptimizer>, usual: Optimizer) -> Optimizer {
        self.refuse(raw, &OPTIMIZER.momentum, usual.kind);
        self.refuse(raw, &OPTIMIZER.nesterov, usual.kind);
        let given = raw.given(&OPTIMIZER.betas);
        let first = self.number_within(&OPTIMIZER.betas, given.map(|betas| betas.0), usual.betas.0);
        let second = self.number_within(&OPTIMIZER.betas, given.map(|betas| betas.1), usual.betas.1);
        raw.settle(&OPTIMIZER.betas, Betas(first, second));
        Optimizer { betas: (first, second), epsilon: self.number(raw, &OPTIMIZER.epsilon, usual.epsilon), ..usual }
    }

    /// Reports a key that this kind of optimizer does not have.
    fn refuse<T: 'static, D>(
        &mut self,
        raw: &mut Table<'_, RawOptimizer>,
        key: &Key<RawOptimizer, T, D>,
        kind: OptimizerKind,
    ) {
        if raw.given(key).is_some() {
            let message = format!("{} does not have this option", name_of(OPTIMIZERS, &kind));
            self.problem(key.path, message, "remove it, or choose another kind");
        }
    }

    /// Returns the settings of a config that save memory.
    pub(super) fn saving(&mut self, job: &mut Table<'_, RawJob>, model: Option<&Model>, sequence: u64) -> Saving {
        let checkpointing = job.given(&JOB.checkpointing);
        let selected = match checkpointing {
            Some(RawCheckpointing::Selected(selected)) => selected.clone(),
            _ => Default::default(),
        };
        let mut raw = Table::new(&selected);
        let saving = Saving {
            checkpoint_every: self.number(&mut raw, &SELECTED.every, 1),
            keep: self.keep(&mut raw, model),
            loss_chunks: self.loss_chunks(job, model, sequence),
            offload_activations: job.flag(&JOB.offload_activations, false),
        };
        let settled = match checkpointing {
            None | Some(RawCheckpointing::All(false)) => RawCheckpointing::All(false),
            Some(_) => RawCheckpointing::Selected(raw.settled),
        };
        job.settle(&JOB.checkpointing, settled);
        saving
    }

    fn keep(&mut self, raw: &mut Table<'_, RawSelected>, model: Option<&Model>) -> Keep {
        let keep = self.word(raw, &SELECTED.keep, Keep::Nothing);
        let is_kernel = |attention| !matches!(attention, Attention::Math | Attention::Eager);
        let has_kernel = model.is_none_or(|model| model.attention().is_some_and(is_kernel));
        if keep == Keep::Attention && !has_kernel {
            let hint = "write keep = \"matmul\", or choose another `model.attention`";
            self.problem("checkpointing.keep", "this model's layers use no attention kernel", hint);
        }
        keep
    }

    fn loss_chunks(&mut self, job: &mut Table<'_, RawJob>, model: Option<&Model>, sequence: u64) -> Option<u64> {
        let mut raw = Table::new(job.given(&JOB.loss)?);
        let chunks = self.number(&mut raw, &LOSS.chunks, 8);
        job.settle(&JOB.loss, raw.settled);
        if !matches!(model, None | Some(Model::Transformer(_))) {
            self.problem("loss", "only `transformer` models can have a chunked loss", "remove it");
        } else if chunks > sequence {
            let message = format!("{chunks} chunks, but a sequence has only {sequence} tokens");
            self.problem("loss.chunks", message, format!("write at most {sequence}"));
        }
        Some(chunks)
    }

    /// Returns where the optimizer state is, and in which number format.
    pub(super) fn storage(&mut self, raw: &mut Table<'_, RawOptimizer>, kind: OptimizerKind) -> OptimizerStorage {
        let is_narrow = self.word(raw, &OPTIMIZER.state, false);
        let is_on_host = raw.flag(&OPTIMIZER.offload, false);
        if raw.given(&OPTIMIZER.offload_gradients).is_some() && !is_on_host {
            self.problem("optimizer.offload_gradients", "nothing is offloaded", "also write `offload = true`");
        }
        if is_narrow && kind == OptimizerKind::Sgd {
            self.problem("optimizer.state", "8-bit state is supported only for adam and adamw", "choose one of them");
        }
        if is_narrow && raw.given(&OPTIMIZER.implementation).is_some() {
            let hint = "remove it: bitsandbytes runs one kernel for each parameter";
            self.problem("optimizer.implementation", "8-bit state has its own implementation", hint);
        }
        match (is_narrow, is_on_host) {
            (true, true) => {
                self.problem("optimizer.offload", "8-bit state cannot be offloaded", "keep one of the two");
                OptimizerStorage::EightBit
            }
            (true, false) => OptimizerStorage::EightBit,
            (false, true) => OptimizerStorage::Host { gradients: raw.flag(&OPTIMIZER.offload_gradients, false) },
            (false, false) => OptimizerStorage::Device,
        }
    }

    /// Refuses what the ways to save memory can't be combined with.
    pub(super) fn check_saving(&mut self, job: &Job) {
        if let OptimizerStorage::Host { gradients } = job.optimizer.storage {
            self.check_offload(job, gradients);
        }
        if job.optimizer.storage == OptimizerStorage::EightBit && job.model.is_channels_last() {
            let hint = "write `channels_last = false`";
            self.problem("optimizer.state", "8-bit state is not supported with `channels_last`", hint);
        }
        if job.parallel.is_some() {
            self.check_one_device(job);
        }
    }

    /// Refuses what needs gradients after backward, because torchao's optimizer moves them to the host during backward.
    fn check_offload(&mut self, job: &Job, gradients: bool) {
        const KEY: &str = "optimizer.offload";
        if job.zero_grad == ZeroGrad::Zero {
            self.problem(KEY, "offloaded gradients cannot be filled with zeros", "write `set_to_none = true`");
        }
        if job.clip_grad_norm.is_some() {
            self.problem(KEY, "gradients move to the host before they can be clipped", "remove `clip_grad_norm`");
        }
        if matches!(job.precision, Precision::Autocast(Amp { grad_scaler: true, .. })) {
            let hint = "write `precision = \"autocast-bf16\"`";
            self.problem(KEY, "gradients move to the host before they can be unscaled", hint);
        }
        if gradients && job.accumulation > 1 {
            let hint = "write `accumulation = 1`";
            self.problem("optimizer.offload_gradients", "gradients that were freed cannot accumulate", hint);
        }
    }

    fn check_one_device(&mut self, job: &Job) {
        let ways = [
            ("optimizer.state", job.optimizer.storage == OptimizerStorage::EightBit),
            ("optimizer.offload", matches!(job.optimizer.storage, OptimizerStorage::Host { .. })),
            ("loss", job.saving.loss_chunks.is_some()),
            ("offload_activations", job.saving.offload_activations),
        ];
        for (path, _) in ways.into_iter().filter(|(_, is_set)| *is_set) {
            self.problem(path, "not supported on several devices", "remove it or `parallel`");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::job;
    use crate::{Keep, OptimizerStorage};

    #[track_caller]
    fn check_checkpointing(text: &str, layers: &[u64], keep: Keep) {
        let job = job(&format!("model = 'gpt2'\ncheckpointing = {text}"));
        let chosen: Vec<_> = (0..6).filter(|layer| job.checkpointing && job.saving.checkpoints(*layer)).collect();
        assert_eq!((chosen.as_slice(), job.saving.keep), (layers, keep), "{text}");
    }

    #[test]
    fn checkpointing_takes_all_layers_or_every_so_many() {
        check_checkpointing("false", &[], Keep::Nothing);
        check_checkpointing("true", &[0, 1, 2, 3, 4, 5], Keep::Nothing);
        check_checkpointing("{}", &[0, 1, 2, 3, 4, 5], Keep::Nothing);
        check_checkpointing("{ every = 2 }", &[1, 3, 5], Keep::Nothing);
        check_checkpointing("{ every = 4, keep = 'attention' }", &[3], Keep::Attention);
        check_checkpointing("{ keep = 'matmul' }", &[0, 1, 2, 3, 4, 5], Keep::Matmul);
    }

    #[track_caller]
    fn check_storage(text: &str, storage: OptimizerStorage) {
        assert_eq!(job(&format!("model = 'gpt2'\noptimizer = {{ {text} }}")).optimizer.storage, storage, "{text}");
    }

    #[test]
    fn state_is_on_the_device_unless_said() {
        check_storage("kind = 'sgd'", OptimizerStorage::Device);
        check_storage("state = 'full', implementation = 'fused'", OptimizerStorage::Device);
        check_storage("state = '8bit'", OptimizerStorage::EightBit);
        check_storage("kind = 'adam', offload = true", OptimizerStorage::Host { gradients: false });
        check_storage("offload = true, offload_gradients = true", OptimizerStorage::Host { gradients: true });
    }

    #[test]
    fn losses_and_activations() {
        let plain = job("model = 'gpt2'").saving;
        assert_eq!((plain.loss_chunks, plain.offload_activations), (None, false));
        let saving = job("model = 'gpt2'\nloss = {}\noffload_activations = true").saving;
        assert_eq!((saving.loss_chunks, saving.offload_activations), (Some(8), true));
    }
}
