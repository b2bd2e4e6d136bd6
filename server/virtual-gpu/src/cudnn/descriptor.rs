//! Implements the descriptors of tensors and filters, which return what was set.

use std::ffi::c_int;

use super::status::{NULL_POINTER, SUCCESS};
use crate::answers::creators;
use crate::arrays::{Array, OutArray};
use crate::ffi::Out;
use crate::stub::{functions, harmless};

/// Data type, sizes and strides of a tensor.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Tensor {
    data_type: c_int,
    sizes: Vec<c_int>,
    strides: Vec<c_int>,
}

impl Tensor {
    /// Sets the descriptor to a contiguous tensor.
    pub(super) fn set_packed(&mut self, data_type: c_int, sizes: &[c_int]) {
        let mut strides = vec![1; sizes.len()];
        for axis in (1..sizes.len()).rev() {
            strides[axis - 1] = strides[axis] * sizes[axis];
        }
        *self = Self { data_type, sizes: sizes.to_vec(), strides };
    }

    /// Returns the channels and the pixels of all images, if the tensor is channels-last in half precision.
    pub(super) fn half_channels_last(&self) -> Option<(usize, usize)> {
        /// `CUDNN_DATA_HALF`.
        const HALF: c_int = 2;
        let channels = *self.sizes.get(1)? as usize;
        let pixels = self.sizes.iter().map(|&size| size as usize).product::<usize>() / channels.max(1);
        (self.data_type == HALF && channels > 1 && self.strides.get(1) == Some(&1)).then_some((channels, pixels))
    }

    /// Returns images, channels, height and width as a tensor whose channels are neighbors.
    #[cfg(test)]
    pub(super) fn channels_last(data_type: c_int, sizes: [c_int; 4]) -> Self {
        let [_, channels, height, width] = sizes;
        let strides = vec![height * width * channels, 1, width * channels, channels];
        Self { data_type, sizes: sizes.to_vec(), strides }
    }
}

/// Descriptor of the weights of a convolution or of a part of a recurrent network.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Filter {
    data_type: c_int,
    format: c_int,
    sizes: Vec<c_int>,
}

#[unsafe(no_mangle)]
extern "C" fn cudnnCreateTensorDescriptor(tensor: Out<Box<Tensor>>) -> c_int {
    tensor.put_if_wanted(Box::default());
    SUCCESS
}

functions! {
    cudnnDestroyTensorDescriptor(_tensor: Option<Box<Tensor>>) = SUCCESS;
    cudnnDestroyFilterDescriptor(_filter: Option<Box<Filter>>) = SUCCESS;
}

#[unsafe(no_mangle)]
extern "C" fn cudnnSetTensorNdDescriptor(
    tensor: Option<&mut Tensor>,
    data_type: c_int,
    axes: c_int,
    sizes: Array<c_int>,
    strides: Array<c_int>,
) -> c_int {
    let Some(tensor) = tensor else { return NULL_POINTER };
    *tensor = Tensor { data_type, sizes: sizes.copy(axes), strides: strides.copy(axes) };
    SUCCESS
}

/// Returns the number of axes, and as many sizes and strides as fit into the caller's arrays.
#[unsafe(no_mangle)]
extern "C" fn cudnnGetTensorNdDescriptor(
    tensor: Option<&Tensor>,
    room: c_int,
    data_type: Out<c_int>,
    axes: Out<c_int>,
    sizes: OutArray<c_int>,
    strides: OutArray<c_int>,
) -> c_int {
    let Some(tensor) = tensor else { return NULL_POINTER };
    let shown = shown(room, tensor.sizes.len());
    data_type.put_if_wanted(tensor.data_type);
    axes.put_if_wanted(tensor.sizes.len() as c_int);
    sizes.put(&tensor.sizes[..shown]);
    strides.put(&tensor.strides[..shown]);
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnCreateFilterDescriptor(filter: Out<Box<Filter>>) -> c_int {
    filter.put_if_wanted(Box::default());
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnSetFilterNdDescriptor(
    filter: Option<&mut Filter>,
    data_type: c_int,
    format: c_int,
    axes: c_int,
    sizes: Array<c_int>,
) -> c_int {
    let Some(filter) = filter else { return NULL_POINTER };
    *filter = Filter { data_type, format, sizes: sizes.copy(axes) };
    SUCCESS
}

/// Returns the number of axes, and as many sizes as fit into the caller's array.
#[unsafe(no_mangle)]
extern "C" fn cudnnGetFilterNdDescriptor(
    filter: Option<&Filter>,
    room: c_int,
    data_type: Out<c_int>,
    format: Out<c_int>,
    axes: Out<c_int>,
    sizes: OutArray<c_int>,
) -> c_int {
    let Some(filter) = filter else { return NULL_POINTER };
    data_type.put_if_wanted(filter.data_type);
    format.put_if_wanted(filter.format);
    axes.put_if_wanted(filter.sizes.len() as c_int);
    sizes.put(&filter.sizes[..shown(room, filter.sizes.len())]);
    SUCCESS
}

/// Returns the number of axes, out of `len`, that fit into a caller's array with `room` elements.
fn shown(room: c_int, len: usize) -> usize {
    usize::try_from(room).unwrap_or(0).min(len)
}

// PyTorch sets these descriptors and never reads them.
creators! {
    cudnnCreateActivationDescriptor, cudnnCreateConvolutionDescriptor, cudnnCreateCTCLossDescriptor,
    cudnnCreatePoolingDescriptor, cudnnCreateSpatialTransformerDescriptor,
}

harmless! {
    cudnnDestroyActivationDescriptor, cudnnDestroyConvolutionDescriptor, cudnnDestroyCTCLossDescriptor,
    cudnnDestroyPoolingDescriptor, cudnnDestroySpatialTransformerDescriptor,
    cudnnSetActivationDescriptor, cudnnSetConvolutionGroupCount,
    cudnnSetConvolutionMathType, cudnnSetConvolutionNdDescriptor, cudnnSetCTCLossDescriptorEx,
    cudnnSetCTCLossDescriptor_v9, cudnnSetPooling2dDescriptor, cudnnSetSpatialTransformerNdDescriptor,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_gives_back_what_was_set() {
        let mut tensor = Tensor::default();
        let (sizes, strides) = ([2, 3, 4, 5], [60, 1, 15, 3]);
        assert_eq!(
            cudnnSetTensorNdDescriptor(Some(&mut tensor), 2, 4, Array::of(&sizes), Array::of(&strides)),
            SUCCESS
        );
        let (mut data_type, mut axes, mut back) = (0, 0, [[7; 5]; 2]);
        let [back_sizes, back_strides] = &mut back;
        let outs = (OutArray::to(back_sizes), OutArray::to(back_strides));
        let (data_type_out, axes_out) = (Out::to(&mut data_type), Out::to(&mut axes));
        assert_eq!(cudnnGetTensorNdDescriptor(Some(&tensor), 5, data_type_out, axes_out, outs.0, outs.1), SUCCESS);
        assert_eq!((data_type, axes, back), (2, 4, [[2, 3, 4, 5, 7], [60, 1, 15, 3, 7]]));
    }

    #[test]
    fn no_more_axes_are_written_than_there_is_room_for() {
        let mut filter = Filter::default();
        assert_eq!(cudnnSetFilterNdDescriptor(Some(&mut filter), 0, 1, 4, Array::of(&[8, 4, 3, 3])), SUCCESS);
        let (mut data_type, mut format, mut axes, mut sizes) = (9, 9, 9, [0; 4]);
        let outs = (Out::to(&mut data_type), Out::to(&mut format), Out::to(&mut axes));
        assert_eq!(
            cudnnGetFilterNdDescriptor(Some(&filter), 2, outs.0, outs.1, outs.2, OutArray::to(&mut sizes)),
            SUCCESS
        );
        assert_eq!((data_type, format, axes, sizes), (0, 1, 4, [8, 4, 0, 0]));
    }

    #[test]
    fn a_packed_tensor_has_its_last_axis_innermost() {
        let mut tensor = Tensor::default();
        tensor.set_packed(0, &[1, 6, 4]);
        assert_eq!(tensor.strides, [24, 4, 1]);
    }
}
