//! Batches in a row, some of them on the device ahead of their use: NVIDIA's `data_prefetcher`.

use std::collections::VecDeque;
use std::vec;

use shared::job::BatchSize;
use tch::TchError;

use super::stream::{self, Stream};
use super::transfer::{self, Transfer};
use crate::Result;
use crate::model::{Batch, Network};
use crate::place::Module;

/// The batches that are still to come, and those that are on the device ahead.
#[derive(Debug)]
pub(super) struct Feed {
    sizes: vec::IntoIter<BatchSize>,
    ahead: VecDeque<Batch>,
    /// Made when the first batch comes ahead.
    side: Option<Stream>,
}

impl Feed {
    /// Batches of these sizes.
    pub(super) fn new(sizes: Vec<BatchSize>) -> Self {
        Self { sizes: sizes.into_iter(), ahead: VecDeque::new(), side: None }
    }

    /// Goes on with batches of these sizes, on the same stream.
    pub(super) fn restart(&mut self, sizes: Vec<BatchSize>) {
        self.sizes = sizes.into_iter();
    }

    /// Puts the next batch in the place of `batch`, tensor by tensor.
    pub(super) fn next(&mut self, transfer: &mut Transfer, network: &dyn Network, batch: &mut Batch) -> Result<()> {
        if transfer.prefetch() == 0 {
            let size = self.sizes.next().ok_or_else(no_batch)?;
            return transfer.bring(network, size, batch);
        }
        let side = match self.side.take() {
            Some(side) => side,
            None => Stream::new(transfer.device())?,
        };
        let next = self.next_ahead(&side, transfer, network);
        self.side = Some(side);
        for (index, tensor) in next?.into_iter().enumerate() {
            transfer::put(batch, index, tensor);
        }
        Ok(())
    }

    /// The next batch; another one is under way before it is used.
    fn next_ahead(&mut self, side: &Stream, transfer: &mut Transfer, network: &dyn Network) -> Result<Batch> {
        if self.ahead.is_empty() {
            for _ in 0..transfer.prefetch() {
                self.preload(side, transfer, network)?;
            }
        }
        side.wait()?;
        let batch = self.ahead.pop_front().ok_or_else(no_batch)?;
        for (name, tensor) in &batch {
            Module::named(name).run(|| stream::record(tensor))?;
        }
        self.preload(side, transfer, network)?;
        Ok(batch)
    }

    /// Brings one more batch to the device, if there is one.
    fn preload(&mut self, side: &Stream, transfer: &mut Transfer, network: &dyn Network) -> Result<()> {
        if let Some(size) = self.sizes.next() {
            let mut batch = Batch::new();
            side.run(|| transfer.bring(network, size, &mut batch))?;
            self.ahead.push_back(batch);
        }
        Ok(())
    }
}

fn no_batch() -> TchError {
    TchError::Kind("the data have no further batch".to_owned())
}
