//! What feeds the training: batches of the job's sizes on the device, one after the other.
//!
//! ```text
//! host memory                     device
//! batch, cut, as bytes, pinned -> new tensor, or a buffer that stays -> numbers around 0 -> the batch's name
//! ```

mod feed;
mod normalizer;
mod predictions;
mod stream;
mod transfer;

pub use self::predictions::Predictions;

use shared::job::{BatchSize, Job};
use tch::{Device, Kind};

use self::feed::Feed;
use self::transfer::Transfer;
use crate::Result;
use crate::model::{Batch, Network};

/// What brings batches to the device.
#[derive(Debug)]
pub struct Loader {
    transfer: Transfer,
    training: Feed,
    evaluation: Feed,
    evaluation_sizes: Vec<BatchSize>,
}

impl Loader {
    /// The batches of a job for a model with this number format.
    ///
    /// # Errors
    ///
    /// There is no memory for what images are normalized with.
    pub fn new(job: &Job, kind: Kind, device: Device) -> Result<Self> {
        Ok(Self {
            transfer: Transfer::new(job, kind, device)?,
            training: Feed::new(job.training_batches()),
            evaluation: Feed::new(Vec::new()),
            evaluation_sizes: job.evaluation_batches(),
        })
    }

    /// Brings the next batch of the training to the device, where each tensor takes the place of its predecessor.
    ///
    /// # Errors
    ///
    /// There is no memory for it, or no further batch.
    pub fn load(&mut self, network: &dyn Network, batch: &mut Batch) -> Result<()> {
        self.training.next(&mut self.transfer, network, batch)
    }

    /// Begins an evaluation: its batches are the same each time.
    pub fn begin_evaluation(&mut self) {
        self.evaluation.restart(self.evaluation_sizes.clone());
    }

    /// Brings the next batch of the evaluation to the device; see [`Loader::load`].
    ///
    /// # Errors
    ///
    /// As [`Loader::load`].
    pub fn load_evaluation(&mut self, network: &dyn Network, batch: &mut Batch) -> Result<()> {
        self.evaluation.next(&mut self.transfer, network, batch)
    }
}
