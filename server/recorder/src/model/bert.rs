//! Masked language models: `BertForMaskedLM` of Hugging Face's transformers 5.

use shared::job;
use tch::{Kind, Tensor};

use super::layer::{
    Activation, Attended, AttentionKernel, CrossEntropy, Dropout, Embedding, INITIALIZER_RANGE, Linear, Norm,
    split_heads,
};
use super::network::tokens;
use super::{Batch, Network, Output};
use crate::builder::{Builder, Init};
use crate::parallel::fsdp::Block;
use crate::pass::{Pass, Shared};
use crate::place::Module;
use crate::{Result, numbers};

#[derive(Debug)]
pub struct Bert {
    embeddings: Embeddings,
    layers: Vec<Shared<Layer>>,
    head: Head,
    loss: CrossEntropy,
    vocabulary: i64,
    sequence: i64,
}

impl Bert {
    /// Builds the model on the builder's device, for samples of `sequence` tokens.
    pub fn new(config: &job::Bert, sequence: u64, builder: &Builder) -> Result<Self> {
        let embeddings = Embeddings::new(&builder.child("embedding"), config)?;
        let layers = builder.child("layers");
        let layer = |index: u64| Layer::new(&layers.child(&index.to_string()), config).map(Shared::new);
        let layers = (0..config.layers).map(layer).collect::<Result<_>>()?;
        let head = Head::new(&builder.child("head"), config, embeddings.token.weight())?;
        Ok(Self {
            embeddings,
            layers,
            head,
            loss: CrossEntropy::new(&builder.child("cross_entropy")),
            vocabulary: config.vocabulary.cast_signed(),
            sequence: sequence.cast_signed(),
        })
    }

    /// Follows `BertModel.forward`, which keeps the embeddings until it returns.
    fn encode(&self, tokens: &Tensor, pass: &Pass) -> Result<Tensor> {
        let embedded = self.embeddings.forward(tokens, pass)?;
        let mut hidden = embedded.shallow_clone();
        for (index, layer) in self.layers.iter().enumerate() {
            let layer = layer.clone();
            hidden = pass.of_layer(index).layer(&[&hidden], move |tensors, pass| layer.forward(tensors[0], pass))?;
        }
        drop(embedded);
        Ok(hidden)
    }
}

impl Network for Bert {
    fn batch(&self, samples: i64) -> Result<Batch> {
        // Ignored labels take as much memory as others, so there are none.
        tokens(self.vocabulary, [samples, self.sequence])
    }

    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output> {
        let hidden = self.encode(&batch[0].1, pass)?;
        let logits = self.head.forward(&hidden)?;
        Ok(Output { locals: vec![hidden], logits, kept: Vec::new() })
    }

    fn output_holds_loss(&self) -> bool {
        true
    }

    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        self.loss.forward(&output.logits.f_view([-1, self.vocabulary])?, &batch[1].1.f_view([-1])?)
    }
}

/// Embeddings of tokens, their positions and their types.
#[derive(Debug)]
struct Embeddings {
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
    fn new(builder: &Builder, config: &job::Bert) -> Result<Self> {
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

    fn forward(&self, tokens: &Tensor, pass: &Pass) -> Result<Tensor> {
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

/// `BertLayer`.
#[derive(Debug)]
struct Layer {
    block: Block,
    attention: SelfAttention,
    attention_output: Residual,
    up: Linear,
    activation: Activation,
    output: Residual,
}

/// `BertSelfOutput` or `BertOutput`: a linear layer, the addition to the residual stream, and a norm.
#[derive(Debug)]
struct Residual {
    module: Module,
    dense: Linear,
    norm: Norm,
    dropout: Dropout,
}

impl Layer {
    fn new(builder: &Builder, config: &job::Bert) -> Result<Self> {
        let (builder, block) = builder.block();
        let (hidden, inner) = (config.hidden.cast_signed(), config.intermediate.cast_signed());
        let attention = builder.child("attention");
        let projection = |name| Linear::normal(&attention.child(name), hidden, hidden, true, INITIALIZER_RANGE);
        let (query, key, value) = (projection("query")?, projection("key")?, projection("value")?);
        let (kernel, head_dim) = (AttentionKernel::bert(config), config.head_dim().cast_signed());
        let feed_forward = builder.child("mlp");
        Ok(Self {
            block,
            attention: SelfAttention { module: attention.module(), query, key, value, kernel, head_dim },
            attention_output: Residual::new(&attention.child("output"), config, config.hidden)?,
            up: Linear::normal(&feed_forward.child("up"), hidden, inner, true, INITIALIZER_RANGE)?,
            activation: Activation::new(&feed_forward.child("activation"), config.activation),
            output: Residual::new(&feed_forward.child("output"), config, config.intermediate)?,
        })
    }

    fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.block.run(input, |input| {
            let Attended { output: attended, probabilities } = self.attention.forward(input, pass)?;
            let residual = self.attention_output.forward(&attended, input, pass)?;
            drop(attended);
            let inner = self.activation.forward(self.up.forward(&residual)?)?;
            let output = self.output.forward(&inner, &residual, pass)?;
            drop(inner);
            drop((probabilities, residual));
            Ok(output)
        })
    }
}

impl Residual {
    fn new(builder: &Builder, config: &job::Bert, inputs: u64) -> Result<Self> {
        let hidden = config.hidden.cast_signed();
        Ok(Self {
            module: builder.module(),
            dense: Linear::normal(&builder.child("dense"), inputs.cast_signed(), hidden, true, INITIALIZER_RANGE)?,
            norm: Norm::new(&builder.child("norm"), job::Norm::LayerNorm(config.norm_epsilon), hidden)?,
            dropout: Dropout::new(&builder.child("dropout"), config.residual_dropout),
        })
    }

    fn forward(&self, input: &Tensor, residual: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            let mut hidden = self.dense.forward(input)?;
            hidden = self.dropout.forward(&hidden, pass)?;
            let sum = hidden.f_add(residual)?;
            let output = self.norm.forward(&sum)?;
            drop(sum);
            drop(hidden);
            Ok(output)
        })
    }
}

/// Self-attention without a mask, with as many heads of keys and values as of queries.
#[derive(Debug)]
struct SelfAttention {
    module: Module,
    query: Linear,
    key: Linear,
    value: Linear,
    kernel: AttentionKernel,
    head_dim: i64,
}

impl SelfAttention {
    /// Returns features of shape (samples, tokens, features), and the probabilities of eager attention.
    fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Attended> {
        self.module.run(|| {
            let query = self.split(&self.query.forward(input)?)?;
            let key = self.split(&self.key.forward(input)?)?;
            let value = self.split(&self.value.forward(input)?)?;
            let Attended { mut output, probabilities } = self.kernel.forward([&query, &key, &value], None, pass)?;
            output = output.f_flatten(2, 3)?;
            drop((query, key, value));
            Ok(Attended { output, probabilities })
        })
    }

    fn split(&self, features: &Tensor) -> Result<Tensor> {
        split_heads(features, self.head_dim)
    }
}

/// A transform of the features, and a decoder whose weight is that of the token embedding.
#[derive(Debug)]
struct Head {
    module: Module,
    dense: Linear,
    activation: Activation,
    norm: Norm,
    decoder: Linear,
}

impl Head {
    fn new(builder: &Builder, config: &job::Bert, tokens: &Tensor) -> Result<Self> {
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

    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.module.run(|| {
            let mut hidden = self.activation.forward(self.dense.forward(input)?)?;
            hidden = self.norm.forward(&hidden)?;
            self.decoder.forward(&hidden)
        })
    }
}
