//! Masks: what Hugging Face's models compute before their layers so that tokens see earlier ones only.

use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::numbers::{self, Numbers as _};

/// The sequences that attention runs over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequences {
    /// Sequences of the batch.
    pub(super) samples: i64,
    /// Tokens of a sequence.
    pub(super) tokens: i64,
    /// The number format of the features.
    pub(super) kind: Kind,
    /// Where they are.
    pub(super) device: Device,
}

/// `find_packed_sequence_indices`: whether several sequences lie in a row, told by positions that don't ascend by 1.
///
/// They never do here, so that the answer is not read.
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

/// `eager_mask`: 0 where a token may look and the lowest number elsewhere, of shape (samples, 1, tokens, tokens).
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

/// `sdpa_mask`: whether a token may look at another.
fn allowed(Sequences { samples, tokens, device, .. }: Sequences) -> Result<Tensor> {
    let range = |end: i64| numbers::range(end, device);
    // Rules that look at samples and heads would need these two; they are made in any case.
    let (sample, head) = (range(samples)?, range(1)?);
    let query = range(tokens)?.add_number(0)?;
    let key = range(tokens)?.add_number(0)?;
    let earlier = key.f_view([1, 1, 1, tokens])?.f_le_tensor(&query.f_view([1, 1, tokens, 1])?)?;
    drop((sample, head, query, key));
    earlier.f_expand([samples, -1, tokens, tokens], false)
}
