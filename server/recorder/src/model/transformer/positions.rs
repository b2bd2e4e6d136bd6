//! Positions of tokens: learned embeddings, or rotations of queries and keys.

use shared::job::{self, Positions};
use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::builder::{Builder, Init};
use crate::model::layer::{Embedding, INITIALIZER_RANGE};
use crate::numbers::{self, Numbers as _};
use crate::place::Module;

/// Returns the positions of a sequence that starts at 0, of shape (1, tokens).
pub(super) fn ids(tokens: i64, device: Device) -> Result<Tensor> {
    let range = numbers::range(tokens, device)?;
    // transformers adds the length of the cache so far, even if it is 0.
    range.add_number(0)?.f_unsqueeze(0)
}

/// Creates the embedding of positions, if they are learned.
pub(super) fn learned(builder: &Builder, config: &job::Transformer) -> Result<Option<Embedding>> {
    if config.positions != Positions::Learned {
        return Ok(None);
    }
    let (rows, features) = (config.max_positions.cast_signed(), config.hidden.cast_signed());
    Embedding::new(builder, rows, features, INITIALIZER_RANGE).map(Some)
}

/// Frequencies of rotary positions: `LlamaRotaryEmbedding`.
#[derive(Debug)]
pub(super) struct Rotary {
    module: Module,
    frequencies: Tensor,
    /// Unused without scaling, but present on the device.
    _original: Tensor,
}

/// Cosine and sine of the angles of each position, of shape (1, tokens, features of a head).
#[derive(Debug)]
pub(super) struct Angles {
    pub(super) cos: Tensor,
    pub(super) sin: Tensor,
}

impl Rotary {
    /// Creates rotary positions, if the transformer uses them.
    pub(super) fn new(builder: &Builder, config: &job::Transformer) -> Result<Option<Self>> {
        let Positions::Rotary(base) = config.positions else { return Ok(None) };
        let frequencies = inverse_frequencies(base, config.head_dim.cast_signed())?;
        let buffer = |name| -> Result<Tensor> {
            let mut buffer = builder.buffer(name, &frequencies.size(), Kind::Float, Init::Constant(0.0))?;
            buffer.f_copy_(&frequencies)?;
            Ok(buffer)
        };
        let (frequencies, original) = (buffer("inv_freq")?, buffer("original_inv_freq")?);
        Ok(Some(Self { module: builder.module(), frequencies, _original: original }))
    }

    /// Returns the angles of these positions, in the dtype `kind`.
    pub(super) fn forward(&self, ids: &Tensor, kind: Kind) -> Result<Angles> {
        self.module.run(|| tch::no_grad(|| self.angles(ids, kind)))
    }

    fn angles(&self, ids: &Tensor, kind: Kind) -> Result<Angles> {
        let frequencies = ids.f_unsqueeze(-1)?.f_to_kind(Kind::Float)?.f_mul(&self.frequencies)?;
        let both = Tensor::f_cat(&[&frequencies, &frequencies], -1)?;
        // transformers multiplies by the attention scaling, even if it is 1.
        let cos = both.f_cos()?.multiply_number(1.0)?;
        let sin = both.f_sin()?.multiply_number(1.0)?;
        let angles = Angles { cos: cos.f_to_kind(kind)?, sin: sin.f_to_kind(kind)? };
        drop((frequencies, both, cos, sin));
        Ok(angles)
    }
}

/// Computes `1.0 / (base ** (arange(0, features, 2) / features))` in host memory.
fn inverse_frequencies(base: f64, features: i64) -> Result<Tensor> {
    let exponents = Tensor::f_arange_start_step(0, features, 2, (Kind::Float, Device::Cpu))?;
    let powers = Tensor::f_pow_scalar(base, &exponents.f_div_scalar(features)?)?;
    powers.f_reciprocal()
}

/// Rotates queries and keys by the angles of their positions: `apply_rotary_pos_emb`.
pub(super) fn rotate(query: &Tensor, key: &Tensor, [cos, sin]: [&Tensor; 2]) -> Result<(Tensor, Tensor)> {
    let (cos, sin) = (cos.f_unsqueeze(1)?, sin.f_unsqueeze(1)?);
    let turned = |heads: &Tensor| {
        let along = heads.f_mul(&cos)?;
        let across = rotate_half(heads)?.f_mul(&sin)?;
        along.f_add(&across)
    };
    Ok((turned(query)?, turned(key)?))
}

fn rotate_half(heads: &Tensor) -> Result<Tensor> {
    let features = heads.size().last().copied().unwrap_or_default();
    let first = heads.f_slice(-1, None, features / 2, 1)?;
    let second = heads.f_slice(-1, features / 2, None, 1)?;
    Tensor::f_cat(&[&second.f_neg()?, &first], -1)
}
