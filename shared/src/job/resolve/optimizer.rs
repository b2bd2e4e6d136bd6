//! Resolves the optimizer of a job; the defaults are those of `torch.optim`.

use super::super::key::Key;
use super::super::raw::{Betas, JOB, OPTIMIZER, RawJob, RawOptimizer};
use super::super::saving::OptimizerStorage;
use super::super::training::{Optimizer, OptimizerImplementation, OptimizerKind, Rule};
use super::Resolver;
use super::table::Table;

/// Returns the default implementation: PyTorch's own, or torchao's for AdamW on the host.
fn usual_implementation(storage: OptimizerStorage, rule: Rule) -> OptimizerImplementation {
    match storage {
        OptimizerStorage::Host { .. } if rule == Rule::AdamW => OptimizerImplementation::Fused,
        _ => OptimizerImplementation::Foreach,
    }
}

impl Resolver {
    pub(super) fn optimizer(&mut self, job: &mut Table<'_, RawJob>) -> Optimizer {
        let given = job.given(&JOB.optimizer).cloned().unwrap_or_default();
        let raw = &mut Table::new(&given);
        let rule = self.word(raw, &OPTIMIZER.kind, Rule::AdamW);
        let kind = match rule {
            Rule::Sgd => self.sgd(raw),
            Rule::Adam | Rule::AdamW => self.adam(raw, rule),
        };
        let storage = self.storage(raw, rule);
        let decay = if rule == Rule::AdamW { 0.01 } else { 0.0 };
        let optimizer = Optimizer {
            kind,
            implementation: self.implementation(raw, storage, rule),
            learning_rate: self.real(raw, &OPTIMIZER.learning_rate, 1e-3),
            weight_decay: self.real(raw, &OPTIMIZER.weight_decay, decay),
            storage,
        };
        job.settle(&JOB.optimizer, std::mem::take(&mut raw.settled));
        optimizer
    }

    /// Returns the implementation of the step; 8-bit state has only one, which has no word.
    fn implementation(
        &mut self,
        raw: &mut Table<'_, RawOptimizer>,
        storage: OptimizerStorage,
        rule: Rule,
    ) -> OptimizerImplementation {
        let (key, usual) = (&OPTIMIZER.implementation, usual_implementation(storage, rule));
        if storage == OptimizerStorage::EightBit {
            self.choice(key.path, raw.given(key), usual, key.domain)
        } else {
            self.word(raw, key, usual)
        }
    }

    fn sgd(&mut self, raw: &mut Table<'_, RawOptimizer>) -> OptimizerKind {
        self.refuse(raw, &OPTIMIZER.betas, "sgd");
        self.refuse(raw, &OPTIMIZER.epsilon, "sgd");
        let momentum = self.real(raw, &OPTIMIZER.momentum, 0.0);
        let nesterov = raw.flag(&OPTIMIZER.nesterov, false);
        if nesterov && momentum == 0.0 {
            self.problem(
                "optimizer.nesterov",
                "Nesterov momentum needs a momentum above 0",
                "for example, write momentum = 0.9",
            );
        }
        OptimizerKind::Sgd { momentum, nesterov }
    }

    fn adam(&mut self, raw: &mut Table<'_, RawOptimizer>, rule: Rule) -> OptimizerKind {
        let name = if rule == Rule::Adam { "adam" } else { "adamw" };
        self.refuse(raw, &OPTIMIZER.momentum, name);
        self.refuse(raw, &OPTIMIZER.nesterov, name);
        let Betas(first, second) = raw.given(&OPTIMIZER.betas).copied().unwrap_or(Betas(0.9, 0.999));
        let first = self.real_within(&OPTIMIZER.betas, Some(first), 0.9);
        let second = self.real_within(&OPTIMIZER.betas, Some(second), 0.999);
        raw.settle(&OPTIMIZER.betas, Betas(first, second));
        let (betas, epsilon) = ((first, second), self.real(raw, &OPTIMIZER.epsilon, 1e-8));
        match rule {
            Rule::Adam => OptimizerKind::Adam { betas, epsilon },
            _ => OptimizerKind::AdamW { betas, epsilon },
        }
    }

    /// Reports a key that this kind of optimizer does not have.
    fn refuse<T: 'static, D>(&mut self, raw: &mut Table<'_, RawOptimizer>, key: &Key<RawOptimizer, T, D>, kind: &str) {
        if raw.given(key).is_some() {
            self.problem(key.path, format!("{kind} does not have this option"), "remove it, or choose another kind");
        }
    }
}
