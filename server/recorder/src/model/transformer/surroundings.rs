//! Inputs that all decoder layers of a pass share.

use tch::Tensor;

use super::positions::Angles;

/// Inputs of a decoder layer besides the features.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// Positions; no layer reads them, but each gets them as an argument and keeps them if it is checkpointed.
    ids: &'a Tensor,
    /// Mask of eager attention.
    pub(super) mask: Option<&'a Tensor>,
    /// Cosine and sine of rotary positions.
    pub(super) angles: Option<[&'a Tensor; 2]>,
}

/// Presence of the optional parts of [`Surroundings`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    masked: bool,
    turned: bool,
}

impl<'a> Surroundings<'a> {
    pub(super) fn new(ids: &'a Tensor, mask: Option<&'a Tensor>, angles: Option<&'a Angles>) -> Self {
        Self { ids, mask, angles: angles.map(|angles| [&angles.cos, &angles.sin]) }
    }

    pub(super) fn shape(&self) -> Shape {
        Shape { masked: self.mask.is_some(), turned: self.angles.is_some() }
    }

    /// Returns a layer's input and its surroundings in one list, for a layer that may be checkpointed.
    pub(super) fn with(self, input: &'a Tensor) -> Vec<&'a Tensor> {
        [input, self.ids].into_iter().chain(self.mask).chain(self.angles.into_iter().flatten()).collect()
    }
}

impl Shape {
    /// Splits the list that [`Surroundings::with`] has returned.
    ///
    /// # Panics
    ///
    /// Panics if the list is shorter than this shape.
    pub(super) fn apart<'a>(self, tensors: &[&'a Tensor]) -> (&'a Tensor, Surroundings<'a>) {
        let mut tensors = tensors.iter().copied();
        let mut next = || tensors.next().expect("a list has what its shape says");
        let (input, ids) = (next(), next());
        let mask = self.masked.then(&mut next);
        let angles = self.turned.then(|| [next(), next()]);
        (input, Surroundings { ids, mask, angles })
    }
}
