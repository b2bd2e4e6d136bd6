//! What all decoder layers of a pass share: positions, rotations of queries and keys, and the causal mask.

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

/// Inputs of a decoder layer besides the features.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// Positions; no layer reads them, but each gets them as an argument and keeps them if it is checkpointed.
    ids: &'a Tensor,
    /// Mask of eager attention.
    pub(super) mask: Option<&'a Tensor>,
    /// Cosine and sine of rotary positions.
    pub(super) angles: Option<[&'a Tensor; 2]>,
}

/// Presence of the optional parts of [`Surroundings`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    masked: bool,
    turned: bool,
}

impl<'a> Surroundings<'a> {
    pub(super) fn new(ids: &'a Tensor, mask: Option<&'a Tensor>, angles: Option<&'a Angles>) -> Self {
        Self { ids, mask, angles: angles.map(|angles| [&angles.cos, &angles.sin]) }
    }

    pub(super) fn shape(&self) -> Shape {
        Shape { masked: self.mask.is_some(), turned: self.angles.is_some() }
    }

    /// Returns a layer's input and its surroundings in one list, for a layer that may be checkpointed.
    pub(super) fn with(self, input: &'a Tensor) -> Vec<&'a Tensor> {
        [input, self.ids].into_iter().chain(self.mask).chain(self.angles.into_iter().flatten()).collect()
    }
}

impl Shape {
    /// Splits the list that [`Surroundings::with`] has returned.
    ///
    /// # Panics
    ///
    /// Panics if the list is shorter than this shape.
    pub(super) fn apart<'a>(self, tensors: &[&'a Tensor]) -> (&'a Tensor, Surroundings<'a>) {
        let mut tensors = tensors.iter().copied();
        let mut next = || tensors.next().expect("a list has what its shape says");
        let (input, ids) = (next(), next());
        let mask = self.masked.then(&mut next);
        let angles = self.turned.then(|| [next(), next()]);
        (input, Surroundings { ids, mask, angles })
    }
}

/// Sequences that attention runs over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequences {
    /// Number of sequences in the batch.
    pub(super) samples: i64,
    pub(super) tokens: i64,
    /// Dtype of the features.
    pub(super) kind: Kind,
    pub(super) device: Device,
}

/// Checks for packed sequences, by positions that do not ascend by 1: `find_packed_sequence_indices`.
///
/// There are none here, so that the result is not read.
pub(super) fn look_for_packed_sequences(ids: &Tensor, samples: i64) -> Result<()> {
    let ids = ids.f_expand([samples, -1], false)?;
    let before = ids.f_slice(1, None, 1, 1)?.subtract_number(1)?;
    let steps = ids.f_diff(1, -1, Some(&before), None)?;
    let packed = steps.not_equal_number(1)?.f_cumsum(-1, None)?;
    let one_sequence = packed.f_select(1, -1)?.equal_number(0)?.f_all()?;
    drop(one_sequence);
    drop((before, steps, packed));
    Ok(())
}

/// Returns 0 where a token may attend and the lowest number elsewhere: `eager_mask`.
///
/// The shape is (samples, 1, tokens, tokens).
pub(super) fn written_out(sequences: Sequences) -> Result<Tensor> {
    let Sequences { kind, device, .. } = sequences;
    let allowed = allowed(sequences)?;
    let lowest = match kind {
        Kind::BFloat16 => -3.389_531_389_251_535_5e38,
        Kind::Half => -65_504.0,
        _ => f64::from(f32::MIN),
    };
    let zero = Tensor::f_zeros(&[] as &[i64], (kind, device))?;
    let mask = zero.where_number(&allowed, lowest)?;
    drop(zero);
    drop(allowed);
    Ok(mask)
}

/// Returns true where a token may attend to another: `sdpa_mask`.
fn allowed(Sequences { samples, tokens, device, .. }: Sequences) -> Result<Tensor> {
    let range = |end: i64| numbers::range(end, device);
    // Only mask rules for samples and heads read these two, but transformers always creates them.
    let (sample, head) = (range(samples)?, range(1)?);
    let query = range(tokens)?.add_number(0)?;
    let key = range(tokens)?.add_number(0)?;
    let earlier = key.f_view([1, 1, 1, tokens])?.f_le_tensor(&query.f_view([1, 1, tokens, 1])?)?;
    drop((sample, head, query, key));
    earlier.f_expand([samples, -1, tokens, tokens], false)
}
