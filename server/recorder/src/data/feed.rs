//! Yields batches in order, some of them prefetched to the device: NVIDIA's `data_prefetcher`.

use std::collections::VecDeque;
use std::vec;

use shared::job::BatchSize;
use tch::TchError;

use super::stream::{self, Stream};
use super::transfer::{self, Transfer};
use crate::Result;
use crate::model::{Batch, Network};
use crate::place::Module;

/// The sizes of the batches still to come, and the batches that are prefetched.
#[derive(Debug)]
pub(super) struct Feed {
    sizes: vec::IntoIter<BatchSize>,
    ahead: VecDeque<Batch>,
    /// Stream of prefetching; created with the first prefetched batch.
    side: Option<Stream>,
}

impl Feed {
    pub(super) fn new(sizes: Vec<BatchSize>) -> Self {
        Self { sizes: sizes.into_iter(), ahead: VecDeque::new(), side: None }
    }

    /// Starts over with batches of these sizes, on the same stream.
    pub(super) fn restart(&mut self, sizes: Vec<BatchSize>) {
        self.sizes = sizes.into_iter();
    }

    /// Replaces `batch` by the next one, tensor by tensor.
    pub(super) fn next(&mut self, transfer: &mut Transfer, network: &dyn Network, batch: &mut Batch) -> Result<()> {
        if transfer.data.prefetch == 0 {
            let size = self.sizes.next().ok_or_else(no_batch)?;
            return transfer.bring(network, size, batch);
        }
        let side = match self.side.take() {
            Some(side) => side,
            None => Stream::new(transfer.device)?,
        };
        let next = self.next_ahead(&side, transfer, network);
        self.side = Some(side);
        for (index, tensor) in next?.into_iter().enumerate() {
            transfer::put(batch, index, tensor);
        }
        Ok(())
    }

    /// Returns the next prefetched batch, after starting to prefetch another one.
    fn next_ahead(&mut self, side: &Stream, transfer: &mut Transfer, network: &dyn Network) -> Result<Batch> {
        if self.ahead.is_empty() {
            for _ in 0..transfer.data.prefetch {
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

    /// Prefetches one more batch, if there is one.
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
