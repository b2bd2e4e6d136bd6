//! Stage of a pipeline: some of the layers, in the first stage the embeddings, in the last stage norm and head.

use std::ops::Range;

use shared::job;
use tch::{Device, Kind, Tensor};

use super::decoder::Decoder;
use super::head::Head;
use super::loss;
use super::positions::{self, Rotary};
use super::surroundings::Surroundings;
use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{Dropout, Embedding, INITIALIZER_RANGE, Linear, Norm};
use crate::pass::{Pass, Shared};
use crate::place::Module;

#[derive(Debug)]
pub(crate) struct Stage {
    start: Option<Start>,
    layers: Vec<Shared<Decoder>>,
    rotary: Option<Rotary>,
    end: Option<End>,
    positions: Module,
    hidden: i64,
    vocabulary: i64,
    sequence: i64,
    kind: Kind,
}

/// Embeddings before the first layer.
#[derive(Debug)]
struct Start {
    module: Module,
    tokens: Embedding,
    positions: Option<Embedding>,
    dropout: Dropout,
}

/// Norm, head and loss after the last layer.
#[derive(Debug)]
struct End {
    norm: Norm,
    head: Head,
    loss: Module,
}

impl Stage {
    /// Creates the stage with these layers, and its parameters in the order of the whole model.
    pub(crate) fn new(config: &job::Transformer, sequence: u64, layers: Range<u64>, builder: &Builder) -> Result<Self> {
        let hidden = config.hidden.cast_signed();
        let start = if layers.start == 0 { Some(Start::new(config, &builder.child("embedding"))?) } else { None };
        let is_last = layers.end == config.layers;
        let list = builder.child("layers");
        let layer = |index: u64| Decoder::new(&list.child(&index.to_string()), config).map(Shared::new);
        let layers = layers.map(layer).collect::<Result<_>>()?;
        let norm = || Norm::new(&builder.child("norm"), config.norm, hidden);
        let norm = if is_last { Some(norm()?) } else { None };
        let rotary = Rotary::new(&builder.child("rotary"), config)?;
        let vocabulary = config.vocabulary.cast_signed();
        let end = |norm| -> Result<End> {
            // If the head of the whole model is tied, the first stage has the other copy of its weight.
            let linear = Linear::normal(&builder.child("head"), hidden, vocabulary, false, INITIALIZER_RANGE)?;
            let head = Head::of(&builder.child("head"), linear);
            Ok(End { norm, head, loss: builder.child("cross_entropy").module() })
        };
        Ok(Self {
            start,
            layers,
            rotary,
            end: norm.map(end).transpose()?,
            positions: builder.child("positions").module(),
            hidden,
            vocabulary,
            sequence: sequence.cast_signed(),
            kind: builder.kind(),
        })
    }

    /// Returns true for the first stage, which reads tokens.
    pub(crate) fn is_first(&self) -> bool {
        self.start.is_some()
    }

    /// Returns true for the last stage, which computes the loss.
    pub(crate) fn is_last(&self) -> bool {
        self.end.is_some()
    }

    /// Returns random tokens in host memory.
    pub(crate) fn tokens(&self, samples: i64) -> Result<Tensor> {
        Tensor::f_randint(self.vocabulary, [samples, self.sequence], (Kind::Int64, Device::Cpu))
    }

    /// Allocates a tensor for the features that one stage sends to another.
    pub(crate) fn buffer(&self, samples: i64, device: Device) -> Result<Tensor> {
        Tensor::f_empty([samples, self.sequence, self.hidden], (self.kind, device))
    }

    /// Returns the features for the next stage, or the logits in the last stage.
    pub(crate) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        let mut hidden = match &self.start {
            Some(start) => start.tokens.forward(input)?,
            None => input.shallow_clone(),
        };
        let ids = self.positions.run(|| positions::given(hidden.size()[1], hidden.device()))?;
        if let Some(start) = &self.start {
            hidden = start.placed(hidden, &ids, pass)?;
        }
        let angles = self.rotary.as_ref().map(|rotary| rotary.forward(&ids, hidden.kind())).transpose()?;
        let surroundings = Surroundings::new(&ids, None, angles.as_ref());
        for layer in &self.layers {
            hidden = layer.forward(&hidden, surroundings, None, pass)?;
        }
        if let Some(end) = &self.end {
            let normed = end.norm.forward(&hidden)?;
            let logits = end.head.forward(&normed)?;
            drop(normed);
            hidden = logits;
        }
        drop((ids, angles));
        Ok(hidden)
    }

    /// Computes the loss of a micro-batch in the last stage.
    pub(crate) fn loss(&self, logits: &Tensor, labels: &Tensor) -> Result<Option<Tensor>> {
        self.end.as_ref().map(|end| end.loss.run(|| loss::causal(logits, labels))).transpose()
    }
}

impl Start {
    fn new(config: &job::Transformer, builder: &Builder) -> Result<Self> {
        let (vocabulary, hidden) = (config.vocabulary.cast_signed(), config.hidden.cast_signed());
        Ok(Self {
            module: builder.module(),
            tokens: Embedding::new(&builder.child("token"), vocabulary, hidden, INITIALIZER_RANGE)?,
            positions: positions::learned(&builder.child("position"), config)?,
            dropout: Dropout::new(&builder.child("dropout"), config.dropout.embedding),
        })
    }

    /// Computes `dropout(hidden + positions(ids))` if positions are learned.
    fn placed(&self, hidden: Tensor, ids: &Tensor, pass: &Pass) -> Result<Tensor> {
        let Some(positions) = &self.positions else { return Ok(hidden) };
        let position = positions.forward(ids)?;
        let sum = self.module.run(|| hidden.f_add(&position))?;
        drop(position);
        let output = self.dropout.forward(&sum, pass)?;
        drop(sum);
        Ok(output)
    }
}
