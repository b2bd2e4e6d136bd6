//! Order of forward and backward of the micro-batches, and the lifetimes of the tensors that a script sends.

use shared::job::Schedule;
use tch::Tensor;

use super::backward;
use super::process::{Pipeline, State};
use crate::Result;
use crate::model::Batch;
use crate::pass::Pass;
use crate::place::Phase;

/// A step under way.
struct Step<'a> {
    pipeline: &'a Pipeline,
    state: &'a mut State,
    batch: &'a Batch,
    pass: &'a Pass,
    /// Output of each micro-batch's forward, until its backward: `fwd_cache`.
    cache: Vec<Option<Tensor>>,
    /// Output of the last forward, which a variable of the script holds.
    output: Option<Tensor>,
    /// Gradient that was sent last.
    sent: Option<Tensor>,
}

/// Runs forward and backward of all micro-batches.
pub(super) fn run(pipeline: &Pipeline, state: &mut State, batch: &Batch, pass: &Pass) -> Result<()> {
    let mut step = Step { pipeline, state, batch, pass, cache: Vec::new(), output: None, sent: None };
    let parts = usize::try_from(pipeline.config.micro_batches).unwrap_or(usize::MAX);
    match pipeline.config.schedule {
        Schedule::Gpipe => step.gpipe(parts),
        Schedule::OneForwardOneBackward => step.one_forward_one_backward(parts),
    }
}

impl Step<'_> {
    /// Follows `ScheduleGPipe._step_microbatches`.
    fn gpipe(&mut self, parts: usize) -> Result<()> {
        for part in 0..parts {
            self.forward(part)?;
        }
        for part in 0..parts {
            // The variable of the previous gradient now holds the received one.
            self.sent = None;
            self.sent = self.backward(part)?;
        }
        self.sent = None;
        self.output = None;
        Ok(())
    }

    /// Follows `Schedule1F1B._step_microbatches`.
    fn one_forward_one_backward(&mut self, parts: usize) -> Result<()> {
        let warmup = self.pipeline.behind + 1;
        let warmup = warmup.min(parts);
        for part in 0..warmup {
            self.forward(part)?;
        }
        for part in 0..parts {
            // The variable keeps the previous gradient until this one is computed.
            let gradient = self.backward(part)?;
            self.sent = gradient;
            if warmup + part < parts {
                self.forward(warmup + part)?;
            }
        }
        self.output = None;
        self.sent = None;
        Ok(())
    }

    /// Runs `forward_one_chunk`, and the loss in the last stage.
    fn forward(&mut self, part: usize) -> Result<()> {
        let Pipeline { stage, keep_outputs, .. } = self.pipeline;
        let output = Phase::Forward.run_annotated(|| match self.state.inputs.get(part) {
            Some(received) => stage.forward(received, self.pass),
            None => stage.forward(&self.of_batch(0, part)?, self.pass),
        })?;
        // Python's variable holds the output before the loss is computed.
        self.output = Some(output.shallow_clone());
        if stage.is_last() {
            let labels = self.of_batch(self.batch.len() - 1, part)?;
            let loss = Phase::Loss.run_annotated(|| stage.loss(&output, &labels))?;
            self.state.losses.extend(loss);
            if *keep_outputs {
                self.state.outputs.push(output.shallow_clone());
            }
        }
        self.cache.push(Some(output));
        Ok(())
    }

    /// Runs `backward_one_chunk`, and returns the gradient to send to the previous stage, if there is one.
    fn backward(&mut self, part: usize) -> Result<Option<Tensor>> {
        let Some(mut output) = self.cache[part].take() else { return Ok(None) };
        Phase::Backward.run_annotated(|| match self.state.gradients.get(part) {
            Some(gradient) => backward::from(&output, gradient),
            None => self.state.losses[part].f_backward(),
        })?;
        let gradient = self.state.inputs.get(part).map(backward::take_gradient).transpose()?;
        if self.pipeline.stage.is_last() {
            drop(output.f_detach_()?);
        }
        Ok(gradient)
    }

    /// Returns one micro-batch of a tensor of the batch.
    fn of_batch(&self, index: usize, part: usize) -> Result<Tensor> {
        let whole = &self.batch[index].1;
        let samples = whole.size()[0] / self.pipeline.config.micro_batches.cast_signed();
        whole.f_narrow(0, samples * part as i64, samples)
    }
}
