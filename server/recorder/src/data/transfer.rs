//! How a batch gets from host memory to the device.

use shared::job::{BatchSize, Data, Job};
use tch::{Device, Kind, Tensor};

use super::normalizer::Normalizer;
use super::stream;
use crate::Result;
use crate::model::{Batch, Network};
use crate::place::Module;

/// What [`Network::batch`] calls images.
const IMAGES: &str = "images";

/// How a batch gets to the device.
#[derive(Debug)]
pub(super) struct Transfer {
    device: Device,
    data: Data,
    longest: u64,
    /// Samples of the largest batch.
    most_samples: u64,
    normalizer: Option<Normalizer>,
    /// Where batches are copied to, if they have no tensors of their own; made with the first batch.
    buffers: Option<Vec<Tensor>>,
}

impl Transfer {
    pub(super) fn new(job: &Job, kind: Kind, device: Device) -> Result<Self> {
        Ok(Self {
            device,
            data: job.data,
            longest: job.longest(),
            most_samples: job.evaluation.map_or(job.batch, |evaluation| evaluation.batch.max(job.batch)),
            normalizer: Normalizer::new(job.data.normalize, kind, device)?,
            buffers: None,
        })
    }

    pub(super) fn device(&self) -> Device {
        self.device
    }

    /// How many batches are on the device ahead of their use.
    pub(super) fn prefetch(&self) -> u64 {
        self.data.prefetch
    }

    /// Brings a batch of this size to the device, tensor by tensor.
    pub(super) fn bring(&mut self, network: &dyn Network, size: BatchSize, batch: &mut Batch) -> Result<()> {
        if self.data.reuse_buffer && self.buffers.is_none() {
            let largest = BatchSize { samples: self.most_samples, length: self.longest };
            self.buffers =
                Some(self.host_batch(network, largest)?.iter().map(|made| self.buffer(made)).collect::<Result<_>>()?);
        }
        for (index, (name, tensor)) in self.host_batch(network, size)?.into_iter().enumerate() {
            let moved = Module::named(name).run(|| self.to_device(index, &tensor))?;
            put(batch, index, (name, moved));
            if let Some(normalizer) = self.normalizer.as_ref().filter(|_| name == IMAGES) {
                normalizer.normalize(&mut batch[index].1)?;
            }
        }
        Ok(())
    }

    /// A batch in host memory, as a data loader hands it over.
    fn host_batch(&self, network: &dyn Network, size: BatchSize) -> Result<Batch> {
        let batch = network.batch(size.samples.cast_signed())?;
        let tensor = |(name, mut tensor): (&'static str, Tensor)| {
            if size.length < self.longest {
                tensor = cut(&tensor, size.length.cast_signed())?;
            }
            if self.normalizer.is_some() && name == IMAGES {
                tensor = tensor.f_to_kind(Kind::Uint8)?;
            }
            if self.data.pin_memory {
                tensor = stream::pin(&tensor)?;
            }
            Ok((name, tensor))
        };
        batch.into_iter().map(tensor).collect()
    }

    /// A tensor on the device that is as large as this one.
    fn buffer(&self, (name, host): &(&'static str, Tensor)) -> Result<Tensor> {
        let options = (host.kind(), self.device);
        Module::named(name).run(|| Tensor::f_empty_strided(host.size(), host.stride(), options))
    }

    /// A tensor of its own, or the part of the buffer that it fills.
    fn to_device(&self, index: usize, host: &Tensor) -> Result<Tensor> {
        let Some(buffers) = &self.buffers else {
            return host.f_to_device_(self.device, host.kind(), self.data.pin_memory, false);
        };
        let part = buffers[index].f_as_strided(host.size(), host.stride(), None)?;
        part.shallow_clone().f_copy_(host)?;
        Ok(part)
    }
}

/// Shorter samples: fewer tokens, or the corner of images.
fn cut(tensor: &Tensor, length: i64) -> Result<Tensor> {
    match tensor.size()[..] {
        [_, _] => tensor.f_narrow(1, 0, length)?.f_contiguous(),
        // Contiguous in the format that they have.
        [_, _, _, _] => tensor.f_narrow(2, 0, length)?.f_narrow(3, 0, length)?.f_zeros_like(),
        _ => Ok(tensor.shallow_clone()),
    }
}

/// Gives a tensor its name: what had it before is freed.
pub(super) fn put(batch: &mut Batch, index: usize, (name, tensor): (&'static str, Tensor)) {
    match batch.get_mut(index) {
        Some(slot) => slot.1 = tensor,
        None => batch.push((name, tensor)),
    }
}
