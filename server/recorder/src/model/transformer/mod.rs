//! Decoder-only language models: GPT-2, Llama and models like Llama, as in Hugging Face's transformers 5.

mod attention;
mod chunks;
mod decoder;
mod dense;
mod positions;

use shared::job;
use tch::{Kind, Reduction, Tensor};

use self::attention::Cache;
use self::chunks::{ChunkedLoss, IGNORED};
use self::decoder::Decoder;
use self::positions::{Rotary, Sequences, Surroundings};
use super::layer::{Dropout, Embedding, INITIALIZER_RANGE, Linear, Norm};
use super::network::tokens;
use super::{Batch, Network, Output};
use crate::Result;
use crate::builder::Builder;
use crate::pass::{Pass, Shared};
use crate::place::Module;

#[derive(Debug)]
pub struct Transformer {
    embedding: Module,
    tokens: Embedding,
    positions: Option<Embedding>,
    dropout: Dropout,
    layers: Vec<Shared<Decoder>>,
    norm: Norm,
    rotary: Option<Rotary>,
    head: Shared<Linear>,
    loss: Module,
    /// Settings of head and loss, if they run in chunks of the sequence.
    chunked: Option<ChunkedLoss>,
    vocabulary: i64,
    sequence: i64,
    use_cache: bool,
    eager: bool,
    /// True if the embeddings' output requires a gradient although nothing before it is trained.
    asks_for_gradients: bool,
}

impl Transformer {
    /// Builds the model on the builder's device, for samples of the job's length.
    pub fn new(config: &job::Transformer, job: &job::Job, builder: &Builder) -> Result<Self> {
        let (vocabulary, hidden) = (config.vocabulary.cast_signed(), config.hidden.cast_signed());
        let embedding = builder.child("embedding");
        let tokens = Embedding::new(&embedding.child("token"), vocabulary, hidden, INITIALIZER_RANGE)?;
        let positions = positions::learned(&embedding.child("position"), config)?;
        let layers = builder.child("layers");
        let layer = |index: u64| Decoder::new(&layers.child(&index.to_string()), config).map(Shared::new);
        let layers = (0..config.layers).map(layer).collect::<Result<_>>()?;
        let norm = Norm::new(&builder.child("norm"), config.norm, hidden)?;
        let rotary = Rotary::new(&builder.child("rotary"), config)?;
        let head = builder.child("head");
        let head = if config.tied_head {
            Linear::tied(&head, tokens.weight())
        } else {
            Linear::normal(&head, hidden, vocabulary, false, INITIALIZER_RANGE)?
        };
        let loss = builder.child("cross_entropy").module();
        Ok(Self {
            embedding: embedding.module(),
            tokens,
            positions,
            dropout: Dropout::new(&embedding.child("dropout"), config.dropout.embedding),
            layers,
            norm,
            rotary,
            head: Shared::new(head),
            chunked: ChunkedLoss::new(job, loss),
            loss,
            vocabulary,
            sequence: job.sequence.cast_signed(),
            use_cache: config.use_cache,
            eager: config.attention == job::Attention::Eager,
            // peft calls `enable_input_require_grads` for a checkpointed model.
            asks_for_gradients: job.lora.is_some() && job.checkpointing,
        })
    }

    /// Follows `GPT2Model.forward` and `LlamaModel.forward`, whose variables live until they return.
    fn decode(&self, tokens: &Tensor, mut cache: Option<&mut Cache>, pass: &Pass) -> Result<Tensor> {
        let mut embedded = self.tokens.forward(tokens)?;
        if self.asks_for_gradients {
            embedded = embedded.f_set_requires_grad(true)?;
        }
        let ids = self.embedding.run(|| positions::ids(tokens.size()[1], tokens.device()))?;
        let position = self.positions.as_ref().map(|positions| positions.forward(&ids)).transpose()?;
        let mut hidden = match &position {
            Some(position) => self.embedding.run(|| embedded.f_add(position))?,
            None => embedded.shallow_clone(),
        };
        let mask = self.embedding.run(|| self.mask(&embedded, &ids, cache.is_some()))?;
        let angles = self.rotary.as_ref().map(|rotary| rotary.forward(&ids, embedded.kind())).transpose()?;
        hidden = self.dropout.forward(&hidden, pass)?;
        let surroundings = Surroundings::new(&ids, mask.as_ref(), angles.as_ref());
        for (index, layer) in self.layers.iter().enumerate() {
            let pass = pass.of_layer(index);
            hidden = decoded(layer, &hidden, surroundings, cache.as_deref_mut(), &pass)?;
        }
        hidden = self.norm.forward(&hidden)?;
        drop((ids, embedded, position, mask, angles));
        Ok(hidden)
    }

    /// Follows `create_causal_mask`: returns no mask if the attention kernel is causal itself.
    fn mask(&self, embedded: &Tensor, ids: &Tensor, cached: bool) -> Result<Option<Tensor>> {
        let [samples, tokens] = [embedded.size()[0], embedded.size()[1]];
        if !cached {
            positions::look_for_packed_sequences(ids, samples)?;
        }
        if !self.eager {
            return Ok(None);
        }
        let (kind, device) = (embedded.kind(), embedded.device());
        positions::written_out(Sequences { samples, tokens, kind, device }).map(Some)
    }
}

/// Runs a layer; without a cache, the layer may be checkpointed.
fn decoded(
    layer: &Shared<Decoder>,
    hidden: &Tensor,
    surroundings: Surroundings<'_>,
    cache: Option<&mut Cache>,
    pass: &Pass,
) -> Result<Tensor> {
    if cache.is_some() {
        return layer.forward(hidden, surroundings, cache, pass);
    }
    let (layer, shape) = (layer.clone(), surroundings.shape());
    pass.layer(&surroundings.with(hidden), move |tensors, pass| {
        let (hidden, surroundings) = shape.apart(tensors);
        layer.forward(hidden, surroundings, None, pass)
    })
}

impl Network for Transformer {
    fn batch(&self, samples: i64) -> Result<Batch> {
        tokens(self.vocabulary, [samples, self.sequence])
    }

    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output> {
        // Recomputed layers would fill a cache twice.
        let cached = self.use_cache && !(pass.checkpointing && pass.training);
        let mut cache = cached.then(Cache::default);
        let hidden = self.decode(&batch[0].1, cache.as_mut(), pass)?;
        let (locals, logits) = match self.chunked {
            Some(_) => (Vec::new(), hidden),
            None => {
                let logits = self.head.forward(&hidden)?;
                (vec![hidden], logits)
            }
        };
        Ok(Output { locals, logits, kept: cache.into_iter().flat_map(Cache::into_tensors).collect() })
    }

    fn output_holds_loss(&self) -> bool {
        self.chunked.is_none()
    }

    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        if let Some(chunked) = self.chunked {
            let head = self.head.clone();
            return chunked.causal(&output.logits, &batch[1].1, move |hidden| head.forward(hidden));
        }
        self.loss.run(|| causal_loss(&output.logits, &batch[1].1))
    }
}

/// Computes cross entropy in 32 bits against the labels shifted by one token: `ForCausalLMLoss`.
fn causal_loss(logits: &Tensor, labels: &Tensor) -> Result<Tensor> {
    let vocabulary = logits.size().last().copied().unwrap_or_default();
    let logits = logits.f_to_kind(Kind::Float)?;
    let padded = labels.f_pad([0, 1], "constant", IGNORED as f64)?;
    let shifted = padded.f_slice(-1, 1, None, 1)?.f_contiguous()?;
    let loss = logits.f_view([-1, vocabulary])?.f_cross_entropy_loss(
        &shifted.f_view([-1])?,
        None::<&Tensor>,
        Reduction::Mean,
        IGNORED,
        0.0,
    )?;
    drop(logits);
    drop((padded, shifted));
    Ok(loss)
}
