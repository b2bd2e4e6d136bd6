//! Normalizes images on the device, from bytes to numbers around 0.

use shared::job::Normalize;
use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::place::Module;

/// ImageNet's mean and deviation of each colour, for values from 0 to 1, as torchvision has them.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];
const WHITE: f32 = 255.0;

/// Tensors that images are normalized with.
#[derive(Debug)]
pub(super) struct Normalizer {
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
    pub(super) fn normalize(&self, images: &mut Tensor) -> Result<()> {
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
