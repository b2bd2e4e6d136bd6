//! Mixture of experts: `MixtralSparseMoeBlock` of transformers 5.23.

mod grouped;
mod looped;
mod router;

use shared::job::{self, ExpertsImplementation, Routing};
use tch::Tensor;

use self::router::{Chosen, Router};
use super::layer::Activation;
use crate::Result;
use crate::builder::{Builder, Init};
use crate::model::layer::INITIALIZER_RANGE;
use crate::place::Module;

/// The experts of a decoder layer, and their router.
#[derive(Debug)]
pub(super) struct Mixture {
    module: Module,
    router: Router,
    experts: Experts,
}

/// Weights of all experts of a layer: `MixtralExperts`.
#[derive(Debug)]
struct Experts {
    module: Module,
    config: job::Experts,
    /// Shape (experts, 2 × inner features, features).
    gate_up: Tensor,
    /// Shape (experts, features, inner features).
    down: Tensor,
    activation: Activation,
}

impl Mixture {
    pub(super) fn new(builder: &Builder, model: &job::Transformer, config: &job::Experts) -> Result<Self> {
        let [count, hidden, inner] = [config.count, model.hidden, model.intermediate].map(u64::cast_signed);
        let router = Router::new(&builder.child("router"), config, hidden)?;
        let inside = builder.child("experts");
        let weight = |name: &str, shape: [i64; 3]| inside.parameter(name, &shape, Init::Normal(INITIALIZER_RANGE));
        let experts = Experts {
            module: inside.module(),
            config: config.clone(),
            gate_up: weight("gate_up", [count, 2 * inner, hidden])?,
            down: weight("down", [count, hidden, inner])?,
            activation: Activation::new(&inside.child("activation"), model.activation),
        };
        Ok(Self { module: builder.module(), router, experts })
    }

    /// Runs the experts on features of shape (samples, tokens, features).
    pub(super) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.module.run(|| {
            let shape = input.size();
            let features = shape.last().copied().unwrap_or_default();
            let rows = input.f_view([-1, features])?;
            // Python's block holds the logits in an unused variable until it returns.
            let (logits, chosen) = self.router.forward(&rows)?;
            let output = self.experts.forward(&rows, &chosen)?.f_reshape(&shape)?;
            drop((logits, chosen));
            Ok(output)
        })
    }
}

impl Experts {
    fn forward(&self, rows: &Tensor, chosen: &Chosen) -> Result<Tensor> {
        self.module.run(|| match &self.config.implementation {
            ExpertsImplementation::GroupedMm => self.grouped(rows, chosen),
            ExpertsImplementation::Eager(routing) => self.looped(rows, chosen, routing),
        })
    }

    /// Multiplies the activation of the first half of the features by the second half.
    fn gated(&self, both: &Tensor) -> Result<Tensor> {
        let halves = both.f_chunk(2, -1)?;
        let [gate, up] = &halves[..] else { unreachable!("two halves") };
        self.activation.forward(gate.shallow_clone())?.f_mul(up)
    }

    /// Returns the number of tokens of each expert, out of `tokens`.
    fn tokens_of_each(&self, routing: &Routing, tokens: i64) -> Vec<i64> {
        let counts = self.config.tokens_of_each(routing, tokens.cast_unsigned());
        counts.into_iter().map(u64::cast_signed).collect()
    }
}
