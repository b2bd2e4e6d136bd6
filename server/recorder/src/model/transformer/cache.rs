//! Key-value cache, which Hugging Face's models fill in training too.

use tch::Tensor;

use crate::Result;

/// Keys and values of the layers so far: `DynamicCache`.
#[derive(Debug, Default)]
pub(super) struct Cache {
    layers: Vec<[Tensor; 2]>,
}

impl Cache {
    /// Concatenates a layer's keys and values to an empty tensor, which copies them, and returns the copies.
    ///
    /// The empty tensor has the dtype of the keys: under autocast this casts the values to 32 bits, as in Python, once
    /// rotary positions have cast the keys to 32 bits.
    pub(super) fn update(&mut self, key: &Tensor, value: &Tensor) -> Result<(Tensor, Tensor)> {
        let nothing = Tensor::f_empty([0], (key.kind(), key.device()))?;
        let key = Tensor::f_cat(&[&nothing, key], -2)?;
        let value = Tensor::f_cat(&[&nothing, value], -2)?;
        self.layers.push([key.shallow_clone(), value.shallow_clone()]);
        Ok((key, value))
    }

    /// Returns all keys and values, layer by layer.
    pub(super) fn into_tensors(self) -> impl Iterator<Item = Tensor> {
        self.layers.into_iter().flatten()
    }
}
