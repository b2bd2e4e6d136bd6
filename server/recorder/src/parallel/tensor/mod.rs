//! Tensor parallelism: each process has a part of every linear layer and of the embedding, and the whole of the norms.
//!
//! Queries, keys, values, gate and up are divided by their outputs, attention's last layer and down by their inputs, so
//! that one sum over the processes ends each half of a layer.
//! This is what `parallelize_module` of torch.distributed makes of transformers' Llama, DTensor's temporaries included.

mod traffic;

use std::cell::RefCell;

use shared::job::{self, Job, Parallel};
use tch::Tensor;

use self::traffic::Share;
use crate::Result;
use crate::builder::Holding;

/// The part of a model that this process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TensorParallel {
    share: Share,
    /// Whether a process has its part of the tokens only, where no layer needs them all.
    by_tokens: bool,
}

thread_local! {
    /// What collectives read whose results nobody has waited for.
    static UNDER_WAY: RefCell<Vec<Tensor>> = const { RefCell::new(Vec::new()) };
}

/// Waits for the collectives under way, as DTensor does when their results are first read.
pub(crate) fn wait() {
    UNDER_WAY.take();
}

/// The readers of one input, all of whose tokens they need: layers that are divided by their outputs.
#[derive(Debug)]
pub(crate) struct Readers {
    split: Option<TensorParallel>,
    rest: Tensor,
    left: usize,
}

impl Readers {
    /// So many readers of an input; where tokens are divided, those of all processes are gathered.
    ///
    /// # Errors
    ///
    /// There is no memory for the tokens of other processes.
    pub(crate) fn new(split: Option<TensorParallel>, input: &Tensor, left: usize) -> Result<Self> {
        let split = split.filter(|split| split.by_tokens);
        let gather = |split: &TensorParallel| traffic::gather_tokens(input, split.share, false);
        let rest = split.as_ref().map_or_else(|| Ok(input.shallow_clone()), gather)?;
        Ok(Self { split, rest, left })
    }

    /// The input as its next reader has it: the gradients of later readers come first, and are added up first.
    ///
    /// # Errors
    ///
    /// There is no memory for a handle.
    pub(crate) fn next(&mut self) -> Result<Tensor> {
        self.left = self.left.saturating_sub(1);
        let Some(split) = self.split.filter(|_| self.left > 0) else { return Ok(self.rest.shallow_clone()) };
        let [later, reader] = split.fork(&self.rest)?;
        self.rest = later;
        Ok(reader)
    }
}

impl TensorParallel {
    /// The part of a job's model, where it is divided so.
    pub(crate) fn of(job: &Job) -> Option<Self> {
        let Some(Parallel::Tensor { rank, sequence_parallel }) = job.parallel else { return None };
        let share = Share { rank: rank.rank.cast_signed(), ranks: rank.ranks.cast_signed() };
        Some(Self { share, by_tokens: sequence_parallel })
    }

    /// How many of so many rows or features this process has.
    pub(crate) fn part(self, whole: i64) -> i64 {
        whole / self.share.ranks
    }

    /// Of an embedding's rows: DTensor has no rule for their gradient, so that each process computes all of it.
    ///
    /// Where the head has the same weights, its gradient is there first, and has their rows.
    pub(crate) fn of_rows(self, has_head: bool) -> Holding {
        if has_head { Holding::Part } else { Holding::WholeGradient([self.share.rank, self.share.ranks]) }
    }

    /// The layers of which this process has the parts: fewer heads, and fewer features inside.
    pub(crate) fn layers(self, whole: &job::Transformer) -> job::Transformer {
        let part = |count: u64| count / self.share.ranks.cast_unsigned();
        job::Transformer {
            heads: part(whole.heads),
            kv_heads: part(whole.kv_heads),
            intermediate: part(whole.intermediate),
            ..whole.clone()
        }
    }

    /// Whether a process has its part of the tokens only between the layers: sequence parallelism.
    pub(crate) fn by_tokens(self) -> bool {
        self.by_tokens
    }

    /// A tensor for two readers, the first of which has its gradient first, inside of what DTensor computes.
    pub(crate) fn fork(self, input: &Tensor) -> Result<[Tensor; 2]> {
        traffic::fork(input)
    }

    /// The input of one layer that is divided by its outputs.
    pub(crate) fn enter(self, input: &Tensor) -> Result<Tensor> {
        if self.by_tokens { Ok(input.shallow_clone()) } else { traffic::enter(input) }
    }

    /// The input of the head, which asks for the tokens by itself.
    pub(crate) fn enter_head(self, input: &Tensor) -> Result<Tensor> {
        if self.by_tokens { traffic::gather_tokens(input, self.share, true) } else { traffic::enter(input) }
    }

    /// The output of a layer that is divided by its inputs: the sum, or this process's tokens of it.
    pub(crate) fn leave(self, part: &Tensor) -> Result<Tensor> {
        if !self.by_tokens {
            return traffic::leave(part);
        }
        let (tokens, read) = traffic::scatter(part, self.share)?;
        UNDER_WAY.with_borrow_mut(|under_way| under_way.push(read));
        Ok(tokens)
    }

    /// The output of the head: the logits of all tokens of the vocabulary.
    pub(crate) fn leave_head(self, part: &Tensor) -> Result<Tensor> {
        traffic::gather_features(part, self.share)
    }

    /// The rows of an embedding of which this process has a part.
    pub(crate) fn embedding(self, weight: &Tensor, indices: &Tensor) -> Result<Tensor> {
        let rows = traffic::embedding(weight, indices, self.share)?;
        self.leave(&rows)
    }
}
