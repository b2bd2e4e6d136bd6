//! Resolves the optimizer of a job; the defaults are those of `torch.optim`.

use super::super::raw::{Betas, RawOptimizer};
use super::super::saving::OptimizerStorage;
use super::super::training::{IMPLEMENTATIONS, Optimizer, OptimizerImplementation, OptimizerKind, RULES, Rule};
use super::Resolver;

/// Returns the default implementation: PyTorch's own, or torchao's for AdamW on the host.
fn usual_implementation(storage: OptimizerStorage, rule: Rule) -> OptimizerImplementation {
    match storage {
        OptimizerStorage::Host { .. } if rule == Rule::AdamW => OptimizerImplementation::Fused,
        _ => OptimizerImplementation::Foreach,
    }
}

impl Resolver {
    pub(super) fn optimizer(&mut self, raw: &RawOptimizer) -> Optimizer {
        let rule = self.choice("optimizer.kind", raw.kind.as_deref(), Rule::AdamW, RULES);
        let kind = match rule {
            Rule::Sgd => self.sgd(raw),
            Rule::Adam | Rule::AdamW => self.adam(raw, rule),
        };
        let storage = self.storage(raw, rule);
        let implementation = raw.implementation.as_deref();
        let usual = usual_implementation(storage, rule);
        let decay = if rule == Rule::AdamW { 0.01 } else { 0.0 };
        Optimizer {
            kind,
            implementation: self.choice("optimizer.implementation", implementation, usual, IMPLEMENTATIONS),
            learning_rate: self.real("optimizer.learning_rate", raw.learning_rate, 1e-3),
            weight_decay: self.real("optimizer.weight_decay", raw.weight_decay, decay),
            storage,
        }
    }

    fn sgd(&mut self, raw: &RawOptimizer) -> OptimizerKind {
        self.refuse("optimizer.betas", raw.betas.is_some(), "sgd");
        self.refuse("optimizer.epsilon", raw.epsilon.is_some(), "sgd");
        let momentum = self.real("optimizer.momentum", raw.momentum, 0.0);
        let nesterov = raw.nesterov.unwrap_or(false);
        if nesterov && momentum == 0.0 {
            self.problem(
                "optimizer.nesterov",
                "Nesterov momentum needs a momentum above 0",
                "for example, write momentum = 0.9",
            );
        }
        OptimizerKind::Sgd { momentum, nesterov }
    }

    fn adam(&mut self, raw: &RawOptimizer, rule: Rule) -> OptimizerKind {
        let name = if rule == Rule::Adam { "adam" } else { "adamw" };
        self.refuse("optimizer.momentum", raw.momentum.is_some(), name);
        self.refuse("optimizer.nesterov", raw.nesterov.is_some(), name);
        let Betas(first, second) = raw.betas.unwrap_or(Betas(0.9, 0.999));
        let betas = (self.real("optimizer.betas", Some(first), 0.9), self.real("optimizer.betas", Some(second), 0.999));
        let epsilon = self.real("optimizer.epsilon", raw.epsilon, 1e-8);
        match rule {
            Rule::Adam => OptimizerKind::Adam { betas, epsilon },
            _ => OptimizerKind::AdamW { betas, epsilon },
        }
    }

    /// Reports a key that this kind of optimizer does not have.
    fn refuse(&mut self, path: &str, is_set: bool, kind: &str) {
        if is_set {
            self.problem(path, format!("{kind} does not have this option"), "remove it, or choose another kind");
        }
    }
}
