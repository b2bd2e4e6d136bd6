//! Transfers batches from host memory to the device, where images may be normalized.

use shared::job::{BatchSize, Data, Job, Normalize};
use tch::{Device, Kind, Tensor};

use super::stream;
use crate::Result;
use crate::model::{Batch, Network};
use crate::place::Module;

/// Name of the images in [`Network::batch`].
const IMAGES: &str = "images";

/// Settings and buffers of the transfer of batches to the device.
#[derive(Debug)]
pub(super) struct Transfer {
    pub(super) device: Device,
    pub(super) data: Data,
    longest: u64,
    /// Number of samples of the largest batch.
    most_samples: u64,
    normalizer: Option<Normalizer>,
    /// Device buffers that batches are copied to with `reuse_buffer`; created with the first batch.
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

    /// Transfers a batch of this size to the device, tensor by tensor.
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

    /// Creates a batch in host memory, as a data loader returns it.
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

    /// Allocates a device tensor with the sizes and strides of a host tensor.
    fn buffer(&self, (name, host): &(&'static str, Tensor)) -> Result<Tensor> {
        let options = (host.kind(), self.device);
        Module::named(name).run(|| Tensor::f_empty_strided(host.size(), host.stride(), options))
    }

    /// Copies a host tensor to a new device tensor, or into its part of the buffer.
    fn to_device(&self, index: usize, host: &Tensor) -> Result<Tensor> {
        let Some(buffers) = &self.buffers else {
            return host.f_to_device_(self.device, host.kind(), self.data.pin_memory, false);
        };
        let part = buffers[index].f_as_strided(host.size(), host.stride(), None)?;
        part.shallow_clone().f_copy_(host)?;
        Ok(part)
    }
}

/// Shortens samples: to fewer tokens, or to images of `length` × `length` pixels.
fn cut(tensor: &Tensor, length: i64) -> Result<Tensor> {
    match tensor.size()[..] {
        [_, _] => tensor.f_narrow(1, 0, length)?.f_contiguous(),
        // `zeros_like` makes the part contiguous in the memory format of the images; the values do not matter.
        [_, _, _, _] => tensor.f_narrow(2, 0, length)?.f_narrow(3, 0, length)?.f_zeros_like(),
        _ => Ok(tensor.shallow_clone()),
    }
}

/// Assigns a tensor to its name, which frees the previous one.
pub(super) fn put(batch: &mut Batch, index: usize, (name, tensor): (&'static str, Tensor)) {
    match batch.get_mut(index) {
        Some(slot) => slot.1 = tensor,
        None => batch.push((name, tensor)),
    }
}

/// ImageNet's mean and deviation of each colour, for values from 0 to 1, as torchvision has them.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];
const WHITE: f32 = 255.0;

/// Tensors that images are normalized with.
#[derive(Debug)]
struct Normalizer {
    module: Module,
    mean: Tensor,
    deviation: Tensor,
    in_place: bool,
}

impl Normalizer {
    /// Creates mean and deviation on the device; `None` if images are normalized on the host.
    pub(super) fn new(normalize: Normalize, kind: Kind, device: Device) -> Result<Option<Self>> {
        if normalize == Normalize::OnHost {
            return Ok(None);
        }
        let module = Module::named("normalize");
        let colours = |shares: [f32; 3]| {
            let colours = Tensor::f_from_slice(&shares.map(|share| share * WHITE))?.f_to_kind(kind)?;
            module.run(|| colours.f_view([1, 3, 1, 1])?.f_to_device(device))
        };
        let (mean, deviation) = (colours(MEAN)?, colours(DEVIATION)?);
        Ok(Some(Self { module, mean, deviation, in_place: normalize == Normalize::InPlace }))
    }

    /// Replaces bytes by normalized numbers.
    fn normalize(&self, images: &mut Tensor) -> Result<()> {
        self.module.run(|| {
            if self.in_place {
                *images = images.f_to_kind(self.mean.kind())?;
                drop(images.f_sub_(&self.mean)?.f_div_(&self.deviation)?);
            } else {
                let centred = images.f_to_kind(self.mean.kind())?.f_sub(&self.mean)?;
                let normalized = centred.f_div(&self.deviation)?;
                drop(centred);
                *images = normalized;
            }
            Ok(())
        })
    }
}
