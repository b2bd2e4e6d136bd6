//! What a decoder layer reads besides its input: the same for all layers of a pass.

use tch::Tensor;

use super::positions::Angles;

/// What a decoder layer reads besides its input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// The positions; no layer reads them, but each is given them, and keeps them where it may run again.
    ids: &'a Tensor,
    /// The mask, where attention is written out.
    pub(super) mask: Option<&'a Tensor>,
    /// Cosine and sine of rotary positions.
    pub(super) angles: Option<[&'a Tensor; 2]>,
}

/// Which parts surroundings have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    masked: bool,
    turned: bool,
}

impl<'a> Surroundings<'a> {
    /// The surroundings of all layers of a pass.
    pub(super) fn new(ids: &'a Tensor, mask: Option<&'a Tensor>, angles: Option<&'a Angles>) -> Self {
        Self { ids, mask, angles: angles.map(|angles| [&angles.cos, &angles.sin]) }
    }

    /// Which parts there are.
    pub(super) fn shape(&self) -> Shape {
        Shape { masked: self.mask.is_some(), turned: self.angles.is_some() }
    }

    /// A layer's input and its surroundings in one list, for a layer that backward may run again.
    pub(super) fn with(self, input: &'a Tensor) -> Vec<&'a Tensor> {
        [input, self.ids].into_iter().chain(self.mask).chain(self.angles.into_iter().flatten()).collect()
    }
}

impl Shape {
    /// What [`Surroundings::with`] has put together.
    ///
    /// # Panics
    ///
    /// The list is not of this shape.
    pub(super) fn apart<'a>(self, tensors: &[&'a Tensor]) -> (&'a Tensor, Surroundings<'a>) {
        let mut tensors = tensors.iter().copied();
        let mut next = || tensors.next().expect("a list has what its shape says");
        let (input, ids) = (next(), next());
        let mask = self.masked.then(&mut next);
        let angles = self.turned.then(|| [next(), next()]);
        (input, Surroundings { ids, mask, angles })
    }
}
