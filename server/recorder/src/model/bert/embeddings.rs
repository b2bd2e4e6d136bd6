//! Embeddings of tokens before the first layer: `BertEmbeddings`.

use shared::job;
use tch::{Kind, Tensor};

use crate::Result;
use crate::builder::{Builder, Init};
use crate::model::layer::{Dropout, Embedding, INITIALIZER_RANGE, Norm};
use crate::numbers;
use crate::pass::Pass;
use crate::place::Module;

/// Embeddings of tokens, their positions and their types.
#[derive(Debug)]
pub(super) struct Embeddings {
    module: Module,
    token: Embedding,
    position: Embedding,
    kind: Embedding,
    norm: Norm,
    dropout: Dropout,
    /// Position of each token, of shape (1, positions).
    position_ids: Tensor,
    /// Type of each token; always 0.
    kind_ids: Tensor,
}

impl Embeddings {
    pub(super) fn new(builder: &Builder, config: &job::Bert) -> Result<Self> {
        let hidden = config.hidden.cast_signed();
        let positions = config.max_positions.cast_signed();
        let embedding =
            |name, rows: u64| Embedding::new(&builder.child(name), rows.cast_signed(), hidden, INITIALIZER_RANGE);
        let buffer = |name| builder.buffer(name, &[1, positions], Kind::Int64, Init::Constant(0.0));
        Ok(Self {
            module: builder.module(),
            token: embedding("token", config.vocabulary)?,
            position: embedding("position", config.max_positions)?,
            kind: embedding("token_type", config.token_types)?,
            norm: Norm::new(&builder.child("norm"), job::Norm::LayerNorm(config.norm_epsilon), hidden)?,
            dropout: Dropout::new(&builder.child("dropout"), config.residual_dropout),
            position_ids: {
                let mut ids = buffer("position_ids")?;
                ids.f_copy_(&numbers::range(positions, tch::Device::Cpu)?.f_unsqueeze(0)?)?;
                ids
            },
            kind_ids: buffer("token_type_ids")?,
        })
    }

    /// Returns the embedding's weight, which the head reads too.
    pub(super) fn tokens(&self) -> &Tensor {
        self.token.weight()
    }

    pub(super) fn forward(&self, tokens: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            let shape = tokens.size();
            let ids = self.position_ids.f_slice(1, None, shape[1], 1)?;
            let kinds = self.kind_ids.f_gather(1, &ids, false)?;
            let token = self.token.forward(tokens)?;
            let kind = self.kind.forward(&kinds.f_expand(&shape, false)?)?;
            let mut sum = token.f_add(&kind)?;
            let position = self.position.forward(&ids)?;
            sum = sum.f_add(&position)?;
            sum = self.norm.forward(&sum)?;
            sum = self.dropout.forward(&sum, pass)?;
            drop((token, kinds, kind, position));
            Ok(sum)
        })
    }
}
