//! Feed-forward network of a decoder layer: one network for all tokens, or a mixture of experts.

use shared::job;
use tch::Tensor;

use super::mlp::Mlp;
use crate::Result;
use crate::builder::Builder;
use crate::model::experts::Mixture;
use crate::pass::Pass;

#[derive(Debug)]
pub(super) enum FeedForward {
    One(Box<Mlp>),
    Experts(Box<Mixture>),
}

impl FeedForward {
    pub(super) fn new(builder: &Builder, config: &job::Transformer) -> Result<Self> {
        match &config.experts {
            None => Mlp::new(builder, config).map(Box::new).map(Self::One),
            Some(experts) => Mixture::new(builder, config, experts).map(Box::new).map(Self::Experts),
        }
    }

    pub(super) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        match self {
            Self::One(mlp) => mlp.forward(input, pass),
            Self::Experts(mixture) => mixture.forward(input),
        }
    }
}
