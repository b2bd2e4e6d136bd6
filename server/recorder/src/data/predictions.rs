//! Predictions that a script collects in one tensor, which it allocates anew for each batch.

use shared::job::{Job, Mistake};
use tch::Tensor;

use crate::Result;
use crate::place::Module;

/// The tensor `predictions` of a script that makes this mistake.
#[derive(Debug)]
pub struct Predictions {
    collects: bool,
    rows: Option<Tensor>,
}

impl Predictions {
    pub fn new(job: &Job) -> Self {
        Self { collects: job.mistakes.contains(&Mistake::AllocateInLoop), rows: None }
    }

    /// Appends a batch: `predictions = torch.cat([predictions, logits.detach().flatten(0, -2)])`.
    ///
    /// # Errors
    ///
    /// Returns an error if memory runs out for a second copy of all predictions.
    pub fn add(&mut self, logits: &Tensor) -> Result<()> {
        if !self.collects {
            return Ok(());
        }
        Module::named("predictions").run(|| {
            let more = logits.f_detach()?.f_flatten(0, -2)?;
            let before = match self.rows.take() {
                Some(rows) => rows,
                None => Tensor::f_empty([0], (more.kind(), more.device()))?,
            };
            self.rows = Some(Tensor::f_cat(&[&before, &more], 0)?);
            Ok(())
        })
    }
}
