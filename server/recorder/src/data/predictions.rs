//! Outputs that a script collects in a tensor, which is allocated anew for each of them.

use shared::job::{Job, Mistake};
use tch::Tensor;

use crate::Result;
use crate::place::Module;

/// `predictions`, where collecting them is the script's mistake.
#[derive(Debug)]
pub struct Predictions {
    collects: bool,
    rows: Option<Tensor>,
}

impl Predictions {
    /// None yet.
    pub fn new(job: &Job) -> Self {
        Self { collects: job.mistakes.contains(&Mistake::AllocateInLoop), rows: None }
    }

    /// `predictions = torch.cat([predictions, logits.detach().flatten(0, -2)])`
    ///
    /// # Errors
    ///
    /// There is no memory for all of them once more.
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
