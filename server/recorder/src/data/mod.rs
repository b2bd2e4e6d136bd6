//! Feeds the training with batches of the job's sizes on the device.
//!
//! ```text
//! host memory                              device
//! batch, cut to size, as bytes, pinned ->  new tensor, or a buffer that stays -> normalized -> the batch's name
//! ```
//!
//! Batches of varying size are drawn with the same small generator (SplitMix64) as by the Python oracle, so that their
//! traces can be compared.

mod feed;
mod stream;
mod transfer;

use shared::job::{BatchSize, Job};
use tch::{Device, Kind};

use self::feed::Feed;
use self::transfer::Transfer;
use crate::Result;
use crate::model::{Batch, Network};

/// Loader of training and evaluation batches.
#[derive(Debug)]
pub struct Loader {
    transfer: Transfer,
    training: Feed,
    evaluation: Feed,
    evaluation_sizes: Vec<BatchSize>,
}

impl Loader {
    /// Creates the loader of a job for a model with parameters of the dtype `kind`.
    pub fn new(job: &Job, kind: Kind, device: Device) -> Result<Self> {
        Ok(Self {
            transfer: Transfer::new(job, kind, device)?,
            training: Feed::new(job.training_batches()),
            evaluation: Feed::new(Vec::new()),
            evaluation_sizes: job.evaluation_batches(),
        })
    }

    /// Brings the next batch of the training to the device; each tensor replaces its predecessor.
    ///
    /// # Errors
    ///
    /// Returns an error if memory runs out, or if there is no further batch.
    pub fn load(&mut self, network: &dyn Network, batch: &mut Batch) -> Result<()> {
        self.training.next(&mut self.transfer, network, batch)
    }

    /// Begins an evaluation, which has the same batches each time.
    pub fn begin_evaluation(&mut self) {
        self.evaluation.restart(self.evaluation_sizes.clone());
    }

    /// Brings the next batch of the evaluation to the device; see [`Loader::load`].
    pub fn load_evaluation(&mut self, network: &dyn Network, batch: &mut Batch) -> Result<()> {
        self.evaluation.next(&mut self.transfer, network, batch)
    }
}
