//! Implements recurrent networks: their descriptors, and the memory that they ask for.
//!
//! The network determines the size of the weights exactly. The sizes of the workspace and of the reserve, which is kept
//! until the backward pass, come from formulas that fit the only public numbers: those that cuDNN returned on a P100
//! for an LSTM and a GRU of four layers (PyTorch's issue 2895). A newer library, another algorithm or dropout between
//! layers may need more or less.

use std::ffi::c_int;

use super::rnn_weights::{Cell, Network};
use super::status::{NOT_SUPPORTED, NULL_POINTER, SUCCESS, element_bytes};
use crate::answers::launches;
use crate::ffi::{Handle, Out};

/// Shape of a batch of sequences.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Sequences {
    steps: usize,
    batch: usize,
}

/// Size of the random number generator states of dropout, which PyTorch allocates once per device, in bytes.
///
/// The real size depends on the GPU and is a few MiB.
const DROPOUT_STATES_BYTES: usize = 4 << 20;

#[unsafe(no_mangle)]
extern "C" fn cudnnDropoutGetStatesSize(_handle: Handle, size: Out<usize>) -> c_int {
    size.put_if_wanted(DROPOUT_STATES_BYTES);
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnCreateRNNDescriptor(network: Out<Box<Network>>) -> c_int {
    network.put_if_wanted(Box::default());
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnDestroyRNNDescriptor(_network: Option<Box<Network>>) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnSetRNNDescriptor_v8(
    network: Option<&mut Network>,
    _algorithm: c_int,
    cell: c_int,
    bias: c_int,
    direction: c_int,
    input_mode: c_int,
    data_type: c_int,
    _math_precision: c_int,
    _math_type: c_int,
    input_size: i32,
    hidden_size: i32,
    output_size: i32,
    layers: i32,
    _dropout: Handle,
    _flags: u32,
) -> c_int {
    let Some(network) = network else { return NULL_POINTER };
    let (Some(cell), Some(_)) = (Cell::from_code(cell), element_bytes(data_type)) else { return NOT_SUPPORTED };
    let size = |value: i32| usize::try_from(value).unwrap_or(0);
    *network = Network {
        cell,
        // `CUDNN_RNN_SINGLE_INP_BIAS` 1, `CUDNN_RNN_DOUBLE_BIAS` 2, `CUDNN_RNN_SINGLE_REC_BIAS` 3.
        input_bias: matches!(bias, 1 | 2),
        recurrent_bias: matches!(bias, 2 | 3),
        directions: if direction == 1 { 2 } else { 1 },
        // `CUDNN_SKIP_INPUT` 1: the first layer has no input matrices.
        skips_input: input_mode == 1,
        data_type,
        input_size: size(input_size),
        hidden_size: size(hidden_size),
        output_size: size(output_size),
        layers: size(layers),
    };
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnCreateRNNDataDescriptor(sequences: Out<Box<Sequences>>) -> c_int {
    sequences.put_if_wanted(Box::default());
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnDestroyRNNDataDescriptor(_sequences: Option<Box<Sequences>>) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnSetRNNDataDescriptor(
    sequences: Option<&mut Sequences>,
    _data_type: c_int,
    _layout: c_int,
    steps: c_int,
    batch: c_int,
) -> c_int {
    let Some(sequences) = sequences else { return NULL_POINTER };
    let size = |value: c_int| usize::try_from(value).unwrap_or(0);
    *sequences = Sequences { steps: size(steps), batch: size(batch) };
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnGetRNNTempSpaceSizes(
    _handle: Handle,
    network: Option<&Network>,
    forward_mode: c_int,
    sequences: Option<&Sequences>,
    work_space: Out<usize>,
    reserve: Out<usize>,
) -> c_int {
    let (Some(network), Some(sequences)) = (network, sequences) else { return NULL_POINTER };
    /// `CUDNN_FWD_MODE_TRAINING`.
    const TRAINING: c_int = 1;
    work_space.put_if_wanted(work_space_bytes(network, *sequences));
    reserve.put_if_wanted(if forward_mode == TRAINING { reserve_bytes(network, *sequences) } else { 0 });
    SUCCESS
}

/// Returns the size of the workspace: the matrices in another order, and one step's values of every layer.
fn work_space_bytes(network: &Network, sequences: Sequences) -> usize {
    let step = network.pseudo_layers() * network.cell.scratch() * network.hidden_size * sequences.batch;
    (network.all_matrices_len() + step) * network.element_bytes()
}

/// Returns the size of the reserve, which the backward pass needs: gates, cells and, except in the last layer, outputs.
fn reserve_bytes(network: &Network, sequences: Sequences) -> usize {
    let states = network.layers * network.cell.kept() * network.hidden_size;
    let between = network.layers.saturating_sub(1) * network.output_size;
    (states + between) * network.directions * sequences.steps * sequences.batch * network.element_bytes()
}

launches! { cudnnRNNForward, cudnnRNNBackwardData_v8, cudnnRNNBackwardWeights_v8 }

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::*;

    const LSTM: c_int = 2;
    const GRU: c_int = 3;

    /// Returns workspace and reserve, in bytes, through the C interface, of a network like that of the public numbers.
    ///
    /// It reads 250 steps of 100 sequences of 123 values, and has 320 hidden units.
    fn sizes(cell: c_int, direction: c_int, layers: i32, forward_mode: c_int) -> (usize, usize) {
        let (mut network, mut sequences) = (Network::default(), Sequences::default());
        let none = null_mut();
        let (double_bias, float) = (2, 0);
        let set = cudnnSetRNNDescriptor_v8(
            Some(&mut network),
            0,
            cell,
            double_bias,
            direction,
            0,
            float,
            float,
            0,
            123,
            320,
            320,
            layers,
            none,
            0,
        );
        assert_eq!(set, SUCCESS);
        assert_eq!(cudnnSetRNNDataDescriptor(Some(&mut sequences), float, 0, 250, 100), SUCCESS);
        let (mut work_space, mut reserve) = (1, 1);
        let outs = (Out::to(&mut work_space), Out::to(&mut reserve));
        let status = cudnnGetRNNTempSpaceSizes(none, Some(&network), forward_mode, Some(&sequences), outs.0, outs.1);
        assert_eq!(status, SUCCESS);
        (work_space, reserve)
    }

    #[test]
    fn sizes_are_those_of_a_real_gpu() {
        assert_eq!(sizes(LSTM, 0, 4, 1), (17_730_560, 736_000_000));
        assert_eq!(sizes(GRU, 0, 4, 1), (13_169_920, 864_000_000));
    }

    #[test]
    fn a_second_direction_keeps_as_much_again() {
        assert_eq!(sizes(LSTM, 1, 4, 1).1, 2 * 736_000_000);
    }

    #[test]
    fn inference_keeps_nothing() {
        assert_eq!(sizes(GRU, 0, 4, 0), (13_169_920, 0));
    }
}
