//! Tensor parallelism: each process has a part of every linear layer and of the embedding, and all of the norms.
//!
//! The projections q, k, v, gate and up are split by their outputs, out and down by their inputs, so that each half of
//! a layer ends with one sum over the processes. This is what `parallelize_module` of torch.distributed makes of
//! transformers' Llama, including DTensor's temporary tensors.

mod traffic;

use std::cell::RefCell;

use shared::job::{self, Job, Parallel};
use tch::Tensor;

use self::traffic::Share;
use crate::Result;

/// Part of a parameter, and of its gradient, that a process of a tensor-parallel group holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holding {
    /// The whole parameter and the whole gradient; always the case without tensor parallelism.
    All,
    /// The rows or columns of this process, of the parameter and of its gradient.
    Part,
    /// The rows of this process, but the gradient of all rows, from which each reader takes its part.
    ///
    /// Contains `[rank, ranks]`.
    WholeGradient([i64; 2]),
    /// The whole parameter, with a gradient that each reader still has to sum over the processes.
    GradientOfPart,
}

/// Part of a model that this process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TensorParallel {
    share: Share,
    /// True for sequence parallelism: between the layers, this process has only its part of the tokens.
    by_tokens: bool,
}

thread_local! {
    /// Inputs of collectives whose results nobody has waited for.
    static UNDER_WAY: RefCell<Vec<Tensor>> = const { RefCell::new(Vec::new()) };
}

/// Waits for the collectives under way, as DTensor does when their results are first read.
pub(crate) fn wait_for_collectives() {
    UNDER_WAY.take();
}

/// An input for several layers that are split by their outputs and read all tokens.
#[derive(Debug)]
pub(crate) struct Readers {
    split: Option<TensorParallel>,
    rest: Tensor,
    left: usize,
}

impl Readers {
    /// Prepares an input for `left` readers; with sequence parallelism the tokens of all processes are gathered.
    ///
    /// # Errors
    ///
    /// Returns an error if memory runs out for the tokens of other processes.
    pub(crate) fn new(split: Option<TensorParallel>, input: &Tensor, left: usize) -> Result<Self> {
        let split = split.filter(|split| split.by_tokens);
        let gather = |split: &TensorParallel| traffic::gather_tokens(input, split.share, false);
        let rest = split.as_ref().map_or_else(|| Ok(input.shallow_clone()), gather)?;
        Ok(Self { split, rest, left })
    }

    /// Returns the input for the next reader.
    ///
    /// In backward the gradients of later readers arrive first, and are summed first.
    ///
    /// # Errors
    ///
    /// Returns an error if an operation fails.
    pub(crate) fn next(&mut self) -> Result<Tensor> {
        self.left = self.left.saturating_sub(1);
        let Some(split) = self.split.filter(|_| self.left > 0) else { return Ok(self.rest.shallow_clone()) };
        let [later, reader] = split.fork(&self.rest)?;
        self.rest = later;
        Ok(reader)
    }
}

impl TensorParallel {
    /// Returns the part of this process, if the job uses tensor parallelism.
    pub(crate) fn of(job: &Job) -> Option<Self> {
        let Some(Parallel::Tensor { rank, sequence_parallel }) = job.parallel else { return None };
        let share = Share { rank: rank.rank.cast_signed(), ranks: rank.ranks.cast_signed() };
        Some(Self { share, by_tokens: sequence_parallel })
    }

    /// Returns the number of rows or features, of `whole`, that this process has.
    pub(crate) fn part(self, whole: i64) -> i64 {
        whole / self.share.ranks
    }

    /// Returns what this process holds of an embedding that is split by rows.
    ///
    /// DTensor has no rule for the gradient of its rows, so that each process computes all of it. If the head is tied
    /// to the embedding, the head's gradient exists first and has the rows of this process only.
    pub(crate) fn of_rows(self, has_head: bool) -> Holding {
        if has_head { Holding::Part } else { Holding::WholeGradient([self.share.rank, self.share.ranks]) }
    }

    /// Returns the config of this process's layers, with fewer heads and fewer inner features.
    pub(crate) fn layers(self, whole: &job::Transformer) -> job::Transformer {
        let part = |count: u64| count / self.share.ranks.cast_unsigned();
        job::Transformer {
            heads: part(whole.heads),
            kv_heads: part(whole.kv_heads),
            intermediate: part(whole.intermediate),
            ..whole.clone()
        }
    }

    pub(crate) fn by_tokens(self) -> bool {
        self.by_tokens
    }

    /// Returns handles for two readers of a tensor; in backward, the first reader's gradient arrives first.
    ///
    /// For tensors that DTensor computes with, since autograd sums their gradients in a new tensor.
    pub(crate) fn fork(self, input: &Tensor) -> Result<[Tensor; 2]> {
        traffic::fork(input)
    }

    /// Returns the input for one layer that is split by its outputs.
    pub(crate) fn enter(self, input: &Tensor) -> Result<Tensor> {
        if self.by_tokens { Ok(input.shallow_clone()) } else { traffic::enter(input) }
    }

    /// Returns the input for the head, which gathers the tokens itself.
    pub(crate) fn enter_head(self, input: &Tensor) -> Result<Tensor> {
        if self.by_tokens { traffic::gather_tokens(input, self.share, true) } else { traffic::enter(input) }
    }

    /// Returns the output of a layer that is split by its inputs: the sum, or its part for this process's tokens.
    pub(crate) fn leave(self, part: &Tensor) -> Result<Tensor> {
        if !self.by_tokens {
            return traffic::leave(part);
        }
        let (tokens, read) = traffic::scatter(part, self.share)?;
        UNDER_WAY.with_borrow_mut(|under_way| under_way.push(read));
        Ok(tokens)
    }

    /// Returns the output of the head: the logits of the whole vocabulary.
    pub(crate) fn leave_head(self, part: &Tensor) -> Result<Tensor> {
        traffic::gather_features(part, self.share)
    }

    /// Looks up rows of an embedding of which this process has a part.
    pub(crate) fn embedding(self, weight: &Tensor, indices: &Tensor) -> Result<Tensor> {
        let rows = traffic::embedding(weight, indices, self.share)?;
        self.leave(&rows)
    }
}
