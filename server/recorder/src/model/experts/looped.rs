//! Computes one expert after the other: `MixtralExperts.forward`.

use shared::job::Routing;
use tch::{Kind, Tensor};

use super::Experts;
use super::router::Chosen;
use crate::Result;
use crate::numbers::Numbers as _;
use crate::pass::autocast;

/// Variables of Python's loop, which hold their tensors until the next expert reassigns them.
#[derive(Default)]
struct Locals {
    /// Indices of the expert among those of its tokens, and of the tokens: two views of one tensor.
    places: Vec<Tensor>,
    features: Option<Tensor>,
    both: Option<Tensor>,
    computed: Option<Tensor>,
}

impl Experts {
    /// Computes the weighted sum of the outputs of each token's experts.
    ///
    /// Python reads from the device which experts are hit, and by which tokens; here the routing of the config decides.
    pub(super) fn looped(&self, rows: &Tensor, chosen: &Chosen, routing: &Routing) -> Result<Tensor> {
        let counts = self.tokens_of_each(routing, rows.size()[0]);
        let mut sum = rows.f_zeros_like()?;
        let hits = counts.iter().filter(|tokens| **tokens > 0).count().cast_signed() as i64;
        let (mask, hit) = tch::no_grad(|| self.look(chosen, hits))?;
        let mut locals = Locals::default();
        for (expert, &tokens) in (0..).zip(&counts).filter(|(_, tokens)| **tokens > 0) {
            // Python compares the expert's number with the one that stands for no expert, which allocates.
            drop(hit.f_select(0, 0)?.f_select(0, 0)?.equal_number(self.config.count.cast_signed())?);
            locals.places = found(&mask.f_select(0, expert)?, tokens)?.f_unbind(1)?;
            let computed = self.compute(expert, rows, &mut locals)?;
            locals.computed = Some(computed);
            locals.add(chosen, &mut sum)?;
        }
        drop((mask, hit));
        drop(locals);
        Ok(sum)
    }

    /// Returns the mask of each expert's tokens, and the experts that have any.
    fn look(&self, chosen: &Chosen, hits: i64) -> Result<(Tensor, Tensor)> {
        let mask = chosen.experts.f_one_hot(self.config.count.cast_signed() + 1)?.f_permute([2, 1, 0])?;
        let is_hit = mask.f_sum_dim_intlist([-1, -2].as_slice(), false, None)?.greater_number(0)?;
        let hit = found(&is_hit, hits)?;
        Ok((mask, hit))
    }

    /// Runs an expert on its tokens.
    fn compute(&self, expert: i64, rows: &Tensor, locals: &mut Locals) -> Result<Tensor> {
        locals.features = Some(rows.f_index(&[Some(&locals.places[1])])?);
        let Some(features) = &locals.features else { unreachable!("set above") };
        locals.both = Some(linear(features, &self.gate_up.f_select(0, expert)?)?);
        let Some(both) = &locals.both else { unreachable!("set above") };
        locals.computed = Some(self.gated(both)?);
        let Some(computed) = &locals.computed else { unreachable!("set above") };
        linear(computed, &self.down.f_select(0, expert)?)
    }
}

impl Locals {
    /// Adds the output of an expert, multiplied by the routing weights of its tokens.
    fn add(&mut self, chosen: &Chosen, sum: &mut Tensor) -> Result<()> {
        let (Some(computed), [place, token]) = (&self.computed, &self.places[..]) else { return Ok(()) };
        let weights = chosen.weights.f_unsqueeze(2)?.f_index(&[Some(token), Some(place)])?;
        let weighted = computed.f_mul(&weights)?;
        drop(weights);
        let token = token.shallow_clone();
        let weighted = self.computed.insert(weighted);
        let _ = sum.f_index_add_(0, &token, &weighted.f_to_kind(sum.kind())?)?;
        Ok(())
    }
}

/// Returns `condition.nonzero()` if it has `rows` rows, or else zeros of that shape.
///
/// The routing of the config decides the number of rows, because a virtual GPU computes no values.
fn found(condition: &Tensor, rows: i64) -> Result<Tensor> {
    let found = condition.f_nonzero()?;
    if found.size()[0] == rows {
        return Ok(found);
    }
    drop(found);
    let dimensions = condition.dim().cast_signed() as i64;
    Tensor::f_zeros([dimensions, rows], (Kind::Int64, condition.device()))?.f_transpose(0, 1)
}

/// Follows `torch.nn.functional.linear` with a part of another weight, which autocast casts each time.
fn linear(input: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let weight = autocast::activation(weight)?;
    let input = autocast::activation(input)?;
    input.f_linear::<&Tensor>(&weight, None)
}
