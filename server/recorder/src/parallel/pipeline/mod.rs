//! Pipeline parallelism: each process has some of the layers, and a batch passes through them in micro-batches.
//!
//! Follows `PipelineStage`, `ScheduleGPipe` and `Schedule1F1B` of torch.distributed.pipelining in PyTorch 2.11. A
//! process allocates buffers for what it receives, once for each micro-batch and neighbour. A tensor that it sends
//! lives until the variables that hold it are reassigned.
//!
//! A stage runs a whole step by itself, because its schedule determines when forward and backward of each micro-batch
//! run.

mod backward;
mod process;
mod schedule;

use std::cell::RefCell;

use shared::job::{self, Job, Parallel, Rank};
use tch::Tensor;

use self::process::Pipeline;

use crate::Result;
use crate::builder::Builder;
use crate::model::{Batch, Network, Output, Stage};
use crate::pass::Pass;
use crate::place::{Module, Phase};

/// Builds the stage of this process, if the job runs a pipeline.
///
/// # Errors
///
/// Returns an error if memory runs out.
pub(crate) fn pipeline(job: &Job, builder: &Builder) -> Result<Option<Box<dyn Network>>> {
    let (Some(Parallel::Pipeline { rank, pipeline }), job::Model::Transformer(model)) = (job.parallel, &job.model)
    else {
        return Ok(None);
    };
    let stage = Stage::new(model, job.sequence, layers(model.layers, rank), builder)?;
    let [parameters, _] = builder.tensors();
    Ok(Some(Box::new(Pipeline {
        stage,
        config: pipeline,
        behind: usize::try_from(rank.ranks - 1 - rank.rank).unwrap_or(usize::MAX),
        device: builder.device(),
        parameters: parameters.into_iter().map(|(_, tensor)| tensor).collect(),
        keep_outputs: job.keep_outputs,
        state: RefCell::default(),
    })))
}

/// Returns the layers of a process: equally many for each, and the remainder for the first ones.
fn layers(count: u64, Rank { rank, ranks }: Rank) -> std::ops::Range<u64> {
    let (each, more) = (count / ranks, count % ranks);
    let start = rank * each + rank.min(more);
    start..start + each + u64::from(rank < more)
}

impl Network for Pipeline {
    fn batch(&self, samples: i64) -> Result<Batch> {
        let mut batch = Batch::new();
        if self.stage.is_first() {
            batch.push(("inputs", self.stage.tokens(samples)?));
        }
        if self.stage.is_last() {
            batch.push(("labels", self.stage.tokens(samples)?));
        }
        Ok(batch)
    }

    fn forward(&self, _batch: &Batch, _pass: &Pass) -> Result<Output> {
        unreachable!("a stage runs whole steps")
    }

    fn loss(&self, _output: &Output, _batch: &Batch) -> Result<Tensor> {
        unreachable!("a stage runs whole steps")
    }

    fn step(&self, batch: &Batch, samples: i64, pass: &Pass) -> Option<Result<Option<Output>>> {
        Some(self.run(batch, samples, pass))
    }
}

impl Pipeline {
    /// Runs `schedule.step()`, and returns the outputs of all micro-batches in the last stage.
    fn run(&self, batch: &Batch, samples: i64, pass: &Pass) -> Result<Option<Output>> {
        let parts = self.config.micro_batches.cast_signed();
        let mut state = self.state.borrow_mut();
        state.losses.clear();
        state.outputs.clear();
        Phase::Setup.run(|| self.prepare(&mut state, samples / parts))?;
        schedule::run(self, &mut state, batch, pass)?;
        Phase::Backward.run(|| self.scale())?;
        if !(self.stage.is_last() && self.keep_outputs) {
            return Ok(None);
        }
        let merged = || Module::named("outputs").run(|| Tensor::f_cat(&state.outputs, 0));
        let logits = Phase::Forward.run(merged)?;
        Ok(Some(Output { locals: Vec::new(), logits, kept: Vec::new() }))
    }
}
