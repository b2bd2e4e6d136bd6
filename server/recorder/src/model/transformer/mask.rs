//! Causal masks, which Hugging Face's models compute before their layers.

use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::numbers::{self, Numbers as _};

/// Sequences that attention runs over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequences {
    /// Number of sequences in the batch.
    pub(super) samples: i64,
    /// Number of tokens in a sequence.
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
