//! The key-value cache that Hugging Face's models fill in training too.

use tch::Tensor;

use crate::Result;

/// The keys and values of every layer so far: `DynamicCache`.
#[derive(Debug, Default)]
pub(super) struct Cache {
    layers: Vec<[Tensor; 2]>,
}

impl Cache {
    /// Appends a layer's keys and values to nothing at all, which copies them, and returns the copies.
    ///
    /// Nothing at all is in the number format of the keys: under autocast that widens the values to 32 bits, as in
    /// Python, once rotary positions have widened the keys.
    pub(super) fn update(&mut self, key: &Tensor, value: &Tensor) -> Result<(Tensor, Tensor)> {
        let nothing = Tensor::f_empty([0], (key.kind(), key.device()))?;
        let key = Tensor::f_cat(&[&nothing, key], -2)?;
        let value = Tensor::f_cat(&[&nothing, value], -2)?;
        self.layers.push([key.shallow_clone(), value.shallow_clone()]);
        Ok((key, value))
    }

    /// All keys and values, layer by layer.
    pub(super) fn into_tensors(self) -> impl Iterator<Item = Tensor> {
        self.layers.into_iter().flatten()
    }
}
