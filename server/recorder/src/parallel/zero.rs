//! `ZeroRedundancyOptimizer`: each process steps a share of the parameters, and has state for this share only.
//!
//! Weights and gradients are whole in every process; after a step each process broadcasts its share.

use std::cmp::Reverse;

use shared::job::{Job, Parallel};
use tch::{Kind, Tensor};

use crate::Result;
use crate::builder::Parameter;
use crate::optimizer::Whole;
use crate::place::Module;

/// Returns the parameters that this process steps, and those of all processes if it steps only a share.
///
/// # Errors
///
/// Returns an error if memory runs out for the buckets of the shares.
pub(crate) fn share(job: &Job, mut parameters: Vec<Parameter>) -> Result<(Vec<Parameter>, Option<Whole>)> {
    let Some(Parallel::Zero1 { rank, parameters_as_bucket_view, .. }) = job.parallel else {
        return Ok((parameters, None));
    };
    let sizes: Vec<_> = parameters.iter().map(|parameter| parameter.tensor.numel()).collect();
    let shares = partition(&sizes, rank.ranks);
    let mut buckets = Vec::new();
    if parameters_as_bucket_view {
        for (number, share) in shares.iter().enumerate() {
            let module = Module::named("zero").named_child(&format!("share {number}"));
            buckets.push(module.run(|| join(&mut parameters, share))?);
        }
    }
    let own = usize::try_from(rank.rank).ok().and_then(|rank| shares.into_iter().nth(rank)).unwrap_or_default();
    let copy = |index: usize| {
        let Parameter { module, tensor, holding } = &parameters[index];
        Parameter { module: *module, tensor: tensor.shallow_clone(), holding: *holding }
    };
    Ok((own.into_iter().map(copy).collect(), Some(Whole { parameters, _buckets: buckets })))
}

/// Assigns parameters to processes: the largest first, each to the process with the fewest elements so far.
///
/// Returns the indices of each process.
///
/// ```text
/// sizes 5 9 4 4, two processes:   9 → 0   5 → 1   4 → 1   4 → 0
/// ```
///
/// This is `_partition_parameters` of PyTorch 2.11. Costs O(parameters × processes).
fn partition(sizes: &[usize], ranks: u64) -> Vec<Vec<usize>> {
    let mut order: Vec<_> = (0..sizes.len()).collect();
    order.sort_by_key(|&index| Reverse(sizes[index]));
    let mut shares: Vec<(usize, Vec<usize>)> = (0..ranks).map(|_| (0, Vec::new())).collect();
    for index in order {
        // Of several with the fewest elements, the first.
        if let Some((size, share)) = shares.iter_mut().min_by_key(|(size, _)| *size) {
            *size += sizes[index];
            share.push(index);
        }
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

/// Makes the weights of a share views of one new tensor, and returns that: `_build_param_buckets`.
fn join(parameters: &mut [Parameter], share: &[usize]) -> Result<Tensor> {
    let Some(first) = share.first().map(|&index| &parameters[index].tensor) else {
        // A process without parameters to step broadcasts a tensor nevertheless.
        let device = parameters.first().map_or(tch::Device::Cpu, |parameter| parameter.tensor.device());
        return Tensor::f_zeros([1], (Kind::Float, device));
    };
    let elements = share.iter().map(|&index| elements_of(&parameters[index].tensor)).sum::<i64>();
    let whole = Tensor::f_empty([elements], (first.kind(), first.device()))?;
    let mut start = 0;
    for &index in share {
        let tensor = &mut parameters[index].tensor;
        let mut part = whole.f_narrow(0, start, elements_of(tensor))?;
        part.f_copy_(&tensor.f_detach()?.f_flatten(0, -1)?)?;
        tensor.f_set_data(&part.f_view_as(tensor)?)?;
        start += elements_of(tensor);
    }
    Ok(whole)
}

fn elements_of(tensor: &Tensor) -> i64 {
    tensor.size().iter().product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_gets_the_next() {
        assert_eq!(partition(&[5, 9, 4, 4], 2), [vec![1, 3], vec![0, 2]]);
        assert_eq!(partition(&[3, 3, 3], 2), [vec![0, 2], vec![1]]);
        assert_eq!(partition(&[7], 3), [vec![0], vec![], vec![]]);
    }
}
