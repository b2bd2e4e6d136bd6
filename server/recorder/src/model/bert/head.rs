//! Head of a masked language model: `BertLMPredictionHead`.

use shared::job;
use tch::Tensor;

use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{Activation, INITIALIZER_RANGE, Linear, Norm};
use crate::place::Module;

/// A transform of the features, and a decoder whose weight is that of the token embedding.
#[derive(Debug)]
pub(super) struct Head {
    module: Module,
    dense: Linear,
    activation: Activation,
    norm: Norm,
    decoder: Linear,
}

impl Head {
    pub(super) fn new(builder: &Builder, config: &job::Bert, tokens: &Tensor) -> Result<Self> {
        let hidden = config.hidden.cast_signed();
        let transform = builder.child("transform");
        let epsilon = job::Norm::LayerNorm(config.norm_epsilon);
        let inside = || -> Result<(Linear, Norm)> {
            let dense = Linear::normal(&transform.child("dense"), hidden, hidden, true, INITIALIZER_RANGE)?;
            Ok((dense, Norm::new(&transform.child("norm"), epsilon, hidden)?))
        };
        // The decoder's bias belongs to the head itself, so that it is the first of the head's parameters.
        let decoder = || Linear::tied_with_bias(&builder.child("decoder"), tokens);
        let ((dense, norm), decoder) = builder.inside_first(inside, decoder)?;
        let activation = Activation::new(&transform.child("activation"), config.activation);
        Ok(Self { module: builder.module(), dense, activation, norm, decoder })
    }

    pub(super) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.module.run(|| {
            let mut hidden = self.activation.forward(self.dense.forward(input)?)?;
            hidden = self.norm.forward(&hidden)?;
            self.decoder.forward(&hidden)
        })
    }
}
