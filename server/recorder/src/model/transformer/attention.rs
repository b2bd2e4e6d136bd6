//! Self-attention of a decoder layer: projections, positions, the cache, and the attention kernel.

use shared::job::{self, TransformerFamily};
use tch::Tensor;

use super::dense::{Dense, DenseShape};
use super::positions::{Surroundings, rotate};
use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{Attended, AttentionKernel, Dropout, split_heads};
use crate::pass::Pass;
use crate::place::Module;

#[derive(Debug)]
pub(super) struct Attention {
    module: Module,
    projections: Projections,
    heads: Heads,
    kernel: AttentionKernel,
    out: Dense,
    dropout: Dropout,
}

/// Projections of features to queries, keys and values.
#[derive(Debug)]
enum Projections {
    Joined(Dense),
    Separate(Box<[Dense; 3]>),
}

#[derive(Debug, Clone, Copy)]
struct Heads {
    queries: i64,
    keys: i64,
    features: i64,
}

impl Attention {
    pub(super) fn new(builder: &Builder, config: &job::Transformer) -> Result<Self> {
        let heads = Heads {
            queries: config.heads.cast_signed(),
            keys: config.kv_heads.cast_signed(),
            features: config.head_dim.cast_signed(),
        };
        let hidden = config.hidden.cast_signed();
        let dense = |name, [inputs, outputs]: [i64; 2]| {
            let residual = name == "out";
            let bias = if residual { config.attention_bias } else { config.qkv_bias };
            let shape = DenseShape { inputs, outputs, bias, residual };
            Dense::new(&builder.child(name), config, shape)
        };
        let widths = heads.widths();
        Ok(Self {
            module: builder.module(),
            projections: match config.family {
                TransformerFamily::Gpt2 => Projections::Joined(dense("qkv", [hidden, widths.iter().sum()])?),
                TransformerFamily::Llama => Projections::Separate(Box::new([
                    dense("q", [hidden, widths[0]])?,
                    dense("k", [hidden, widths[1]])?,
                    dense("v", [hidden, widths[2]])?,
                ])),
            },
            heads,
            kernel: AttentionKernel::new(config),
            out: dense("out", [widths[0], hidden])?,
            dropout: Dropout::new(&builder.child("dropout"), config.dropout.residual),
        })
    }

    /// Returns features of shape (samples, tokens, features), and the probabilities of eager attention.
    pub(super) fn forward(
        &self,
        input: &Tensor,
        surroundings: Surroundings<'_>,
        cache: Option<&mut Cache>,
        pass: &Pass,
    ) -> Result<Attended> {
        self.module.run(|| {
            let (mut query, mut key, mut value) = self.projections.forward(input, self.heads, pass)?;
            if let Some(angles) = surroundings.angles {
                (query, key) = rotate(&query, &key, angles)?;
            }
            if let Some(cache) = cache {
                (key, value) = cache.update(&key, &value)?;
            }
            let Attended { mut output, probabilities } =
                self.kernel.forward([&query, &key, &value], surroundings.mask, pass)?;
            output = output.f_flatten(2, 3)?;
            output = self.out.forward(&output, pass)?;
            output = self.dropout.forward(&output, pass)?;
            drop((query, key, value));
            Ok(Attended { output, probabilities })
        })
    }
}

impl Projections {
    /// Returns queries, keys and values of shape (samples, heads, tokens, features of a head).
    fn forward(&self, input: &Tensor, heads: Heads, pass: &Pass) -> Result<(Tensor, Tensor, Tensor)> {
        let [query, key, value] = match self {
            Self::Joined(dense) => {
                let parts = dense.forward(input, pass)?.f_split_with_sizes(heads.widths(), 2)?;
                let [query, key, value] = &parts[..] else { unreachable!("three widths make three parts") };
                [heads.split(query)?, heads.split(key)?, heads.split(value)?]
            }
            Self::Separate(separate) => {
                let [query, key, value] = &**separate;
                [
                    heads.split(&query.forward(input, pass)?)?,
                    heads.split(&key.forward(input, pass)?)?,
                    heads.split(&value.forward(input, pass)?)?,
                ]
            }
        };
        Ok((query, key, value))
    }
}

impl Heads {
    /// Returns the number of features of all queries, keys and values of a token.
    fn widths(self) -> [i64; 3] {
        [self.queries, self.keys, self.keys].map(|heads| heads * self.features)
    }

    fn split(self, features: &Tensor) -> Result<Tensor> {
        split_heads(features, self.features)
    }
}

/// Keys and values of the layers so far: `DynamicCache`.
#[derive(Debug, Default)]
pub(super) struct Cache {
    layers: Vec<[Tensor; 2]>,
}

impl Cache {
    /// Concatenates a layer's keys and values to an empty tensor, which copies them, and returns the copies.
    ///
    /// The empty tensor has the dtype of the keys: under autocast this casts the values to 32 bits, as in Python, once
    /// rotary positions have cast the keys to 32 bits.
    pub(super) fn update(&mut self, key: &Tensor, value: &Tensor) -> Result<(Tensor, Tensor)> {
        let nothing = Tensor::f_empty([0], (key.kind(), key.device()))?;
        let key = Tensor::f_cat(&[&nothing, key], -2)?;
        let value = Tensor::f_cat(&[&nothing, value], -2)?;
        self.layers.push([key.shallow_clone(), value.shallow_clone()]);
        Ok((key, value))
    }

    /// Returns all keys and values, layer by layer.
    pub(super) fn into_tensors(self) -> impl Iterator<Item = Tensor> {
        self.layers.into_iter().flatten()
    }
}
