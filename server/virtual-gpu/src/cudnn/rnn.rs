//! Implements recurrent networks: their descriptors, and the memory that they ask for.

use std::ffi::c_int;

use super::rnn_space::{self, Sequences};
use super::rnn_weights::{Cell, Network};
use super::status::{NOT_INITIALIZED, NOT_SUPPORTED, NULL_POINTER, SUCCESS, element_bytes};
use crate::answers::{launched, launches};
use crate::arrays::Array;
use crate::ffi::{Handle, Out};
use crate::state::machine;
use crate::stub::functions;

/// Size of the random number generator's state of one thread, in bytes: an H200 asks for 132 × 2,048 of them.
const DROPOUT_STATE_BYTES: u32 = 24;

/// Returns the size of the states of dropout, which PyTorch allocates once per device.
#[unsafe(no_mangle)]
extern "C" fn cudnnDropoutGetStatesSize(_handle: Handle, size: Out<usize>) -> c_int {
    let Ok(device) = machine().and_then(|machine| machine.current()) else { return NOT_INITIALIZED };
    let threads = device.card.multiprocessors * device.card.threads_per_multiprocessor;
    size.put_if_wanted((threads * DROPOUT_STATE_BYTES) as usize);
    SUCCESS
}

/// Descriptor of dropout: the share of the values that are dropped.
#[derive(Debug, Default)]
struct Dropout {
    rate: f32,
}

#[unsafe(no_mangle)]
extern "C" fn cudnnCreateDropoutDescriptor(dropout: Out<Box<Dropout>>) -> c_int {
    dropout.put_if_wanted(Box::default());
    SUCCESS
}

functions! {
    cudnnDestroyDropoutDescriptor(_dropout: Option<Box<Dropout>>) = SUCCESS;
    cudnnDestroyRNNDescriptor(_network: Option<Box<Network>>) = SUCCESS;
    cudnnDestroyRNNDataDescriptor(_sequences: Option<Box<Sequences>>) = SUCCESS;
}

/// Sets the rate, and makes the states by a kernel.
#[unsafe(no_mangle)]
extern "C" fn cudnnSetDropoutDescriptor(dropout: Option<&mut Dropout>, handle: Handle, rate: f32) -> c_int {
    launched();
    cudnnRestoreDropoutDescriptor(dropout, handle, rate)
}

/// Sets the rate for states that were made before.
#[unsafe(no_mangle)]
extern "C" fn cudnnRestoreDropoutDescriptor(dropout: Option<&mut Dropout>, _handle: Handle, rate: f32) -> c_int {
    let Some(dropout) = dropout else { return NULL_POINTER };
    dropout.rate = rate;
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnCreateRNNDescriptor(network: Out<Box<Network>>) -> c_int {
    network.put_if_wanted(Box::default());
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cudnnSetRNNDescriptor_v8(
    network: Option<&mut Network>,
    algorithm: c_int,
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
    dropout: Option<&Dropout>,
    _flags: u32,
) -> c_int {
    let Some(network) = network else { return NULL_POINTER };
    let (Some(cell), Some(_)) = (Cell::from_code(cell), element_bytes(data_type)) else { return NOT_SUPPORTED };
    let size = |value: i32| usize::try_from(value).unwrap_or(0);
    *network = Network {
        cell,
        // `CUDNN_RNN_ALGO_STANDARD` 0.
        is_persistent: algorithm != 0,
        drops: dropout.is_some_and(|dropout| dropout.rate > 0.0),
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
extern "C" fn cudnnSetRNNDataDescriptor(
    sequences: Option<&mut Sequences>,
    _data_type: c_int,
    layout: c_int,
    steps: c_int,
    batch: c_int,
    _vector_size: c_int,
    lengths: Array<c_int>,
) -> c_int {
    let Some(sequences) = sequences else { return NULL_POINTER };
    let size = |value: c_int| usize::try_from(value).unwrap_or(0);
    // `CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED` 1.
    let is_packed = layout == 1;
    let padded = size(steps) * size(batch);
    let vectors = if is_packed { lengths.copy(batch).into_iter().map(size).sum() } else { padded };
    *sequences = Sequences { batch: size(batch), vectors, is_packed };
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
    let trains = forward_mode == TRAINING;
    work_space.put_if_wanted(rnn_space::work_space_bytes(network, sequences, trains));
    reserve.put_if_wanted(if trains { rnn_space::reserve_bytes(network, sequences) } else { 0 });
    SUCCESS
}

launches! { cudnnRNNForward, cudnnRNNBackwardData_v8, cudnnRNNBackwardWeights_v8 }

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::*;

    const PLAIN: c_int = 0;
    const LSTM: c_int = 2;
    const GRU: c_int = 3;

    /// Returns workspace and reserve, in bytes, through the C interface.
    ///
    /// A case has the algorithm, the cell, the type of data, 1 for two directions, the layers, the sizes of input and
    /// state and of the output, the steps, the batch, and 1 for dropout; lengths pack the sequences.
    fn sizes(case: [c_int; 10], input_size: c_int, lengths: Option<&[c_int]>, mode: c_int) -> (usize, usize) {
        let [algorithm, cell, data_type, direction, layers, hidden, output, steps, batch, dropout] = case;
        let (mut network, mut sequences, mut drops) = (Network::default(), Sequences::default(), Dropout::default());
        let none = null_mut();
        assert_eq!(cudnnRestoreDropoutDescriptor(Some(&mut drops), none, dropout as f32), SUCCESS);
        let (network_place, double_bias) = (Some(&mut network), 2);
        let set = cudnnSetRNNDescriptor_v8(
            network_place,
            algorithm,
            cell,
            double_bias,
            direction,
            0,
            data_type,
            data_type,
            0,
            input_size,
            hidden,
            output,
            layers,
            Some(&drops),
            0,
        );
        assert_eq!(set, SUCCESS);
        let (layout, lengths) = lengths.map_or((0, Array::of(&[])), |lengths| (1, Array::of(lengths)));
        let set = cudnnSetRNNDataDescriptor(Some(&mut sequences), data_type, layout, steps, batch, input_size, lengths);
        assert_eq!(set, SUCCESS);
        let (mut work_space, mut reserve) = (1, 1);
        let outs = (Out::to(&mut work_space), Out::to(&mut reserve));
        let status = cudnnGetRNNTempSpaceSizes(none, Some(&network), mode, Some(&sequences), outs.0, outs.1);
        assert_eq!(status, SUCCESS);
        (work_space, reserve)
    }

    /// Cases with their workspace and reserve on an H200; without a reserve, the network does not train.
    #[rustfmt::skip]
    const MEASURED: [([c_int; 10], usize, usize); 46] = [
        ([3, GRU, 2, 0, 1, 64, 64, 100, 20, 0], 12_800_416, 0),
        ([0, GRU, 2, 0, 1, 512, 512, 35, 1, 0], 11_718_944, 0),
        ([0, GRU, 9, 0, 3, 1024, 1024, 100, 20, 0], 84_009_376, 0),
        ([3, GRU, 2, 0, 3, 64, 64, 100, 1, 0], 25_532_704, 0),
        ([0, GRU, 2, 1, 1, 1024, 1024, 100, 1, 0], 44_634_400, 0),
        ([3, GRU, 0, 1, 1, 64, 64, 35, 20, 0], 21_505_440, 0),
        ([0, GRU, 9, 1, 3, 256, 256, 35, 20, 0], 61_712_800, 0),
        ([3, GRU, 0, 1, 3, 128, 128, 100, 64, 0], 136_381_184, 0),
        ([0, GRU, 0, 0, 1, 1024, 1024, 35, 64, 0], 89_916_160, 55_050_496),
        ([0, GRU, 9, 0, 3, 256, 256, 100, 20, 1], 33_823_136, 20_608_256),
        ([3, GRU, 9, 0, 3, 64, 64, 100, 1, 0], 25_392_288, 256_256),
        ([3, GRU, 2, 0, 2, 64, 64, 100, 1, 0], 17_146_144, 166_656),
        ([3, GRU, 2, 1, 1, 128, 128, 35, 64, 1], 32_310_016, 6_881_536),
        ([0, GRU, 2, 1, 2, 256, 256, 35, 64, 0], 54_461_184, 29_819_136),
        ([3, GRU, 2, 1, 3, 64, 64, 100, 1, 0], 51_088_928, 512_256),
        ([0, GRU, 0, 1, 2, 1024, 1024, 100, 64, 1], 533_725_952, 684_851_456),
        ([0, LSTM, 9, 0, 1, 512, 512, 35, 64, 0], 27_001_600, 0),
        ([1, LSTM, 2, 0, 1, 256, 256, 35, 64, 0], 34_931_456, 0),
        ([0, LSTM, 2, 0, 1, 650, 32, 100, 64, 0], 62_980_768, 0),
        ([3, LSTM, 2, 0, 3, 128, 128, 100, 20, 0], 37_339_552, 0),
        ([0, LSTM, 0, 0, 2, 512, 512, 35, 1, 0], 34_025_760, 0),
        ([0, LSTM, 9, 0, 3, 512, 32, 35, 64, 0], 43_520_768, 0),
        ([0, LSTM, 9, 1, 1, 1024, 1024, 35, 20, 0], 72_819_104, 0),
        ([0, LSTM, 2, 1, 1, 650, 32, 100, 20, 0], 63_734_752, 0),
        ([3, LSTM, 9, 1, 2, 128, 128, 35, 1, 0], 35_012_128, 0),
        ([0, LSTM, 0, 1, 3, 650, 32, 100, 20, 0], 150_673_184, 0),
        ([0, LSTM, 9, 0, 2, 256, 256, 100, 20, 0], 25_223_584, 11_264_256),
        ([0, LSTM, 9, 0, 2, 64, 32, 100, 64, 0], 22_340_352, 11_469_056),
        ([3, LSTM, 0, 1, 1, 64, 64, 100, 64, 0], 68_125_440, 16_384_256),
        ([0, LSTM, 9, 1, 1, 512, 32, 35, 64, 0], 57_320_192, 27_812_096),
        ([0, LSTM, 9, 1, 3, 512, 512, 100, 64, 1], 186_909_440, 226_099_456),
        ([0, LSTM, 9, 1, 2, 256, 256, 35, 1, 0], 39_090_976, 394_496),
        ([0, LSTM, 9, 1, 2, 1024, 32, 100, 64, 1], 255_394_560, 342_528_256),
        ([3, PLAIN, 2, 0, 1, 128, 128, 100, 20, 0], 12_059_040, 0),
        ([0, PLAIN, 2, 0, 1, 512, 512, 100, 1, 0], 9_747_744, 0),
        ([3, PLAIN, 9, 0, 3, 128, 128, 35, 64, 0], 27_230_976, 0),
        ([3, PLAIN, 2, 0, 3, 64, 64, 100, 64, 0], 31_048_448, 0),
        ([3, PLAIN, 9, 1, 3, 64, 64, 100, 1, 0], 50_582_048, 0),
        ([3, PLAIN, 2, 1, 3, 128, 128, 35, 1, 0], 50_980_384, 0),
        ([3, PLAIN, 9, 0, 1, 128, 128, 100, 1, 0], 8_609_312, 25_856),
        ([3, PLAIN, 2, 0, 1, 256, 256, 35, 20, 0], 14_088_608, 358_656),
        ([3, PLAIN, 0, 0, 2, 128, 128, 100, 64, 1], 69_862_144, 9_933_056),
        ([3, PLAIN, 9, 1, 1, 64, 64, 35, 64, 1], 20_366_080, 573_696),
        ([3, PLAIN, 2, 1, 2, 256, 256, 35, 20, 0], 43_395_488, 2_150_656),
        ([3, PLAIN, 0, 1, 2, 128, 128, 100, 64, 1], 110_494_464, 20_070_656),
        ([0, LSTM, 0, 0, 2, 650, 650, 35, 20, 1], 57_597_632, 20_077_152),
    ];

    #[test]
    fn sizes_are_those_of_an_h200() {
        for (case, work_space, reserve) in MEASURED {
            let mode = c_int::from(reserve > 0);
            assert_eq!(sizes(case, case[5], None, mode), (work_space, reserve), "{case:?}");
        }
    }

    #[test]
    fn packed_sequences_count_their_own_vectors() {
        let case = [0, GRU, 0, 1, 2, 256, 256, 119, 64, 0];
        let lengths: Vec<c_int> = (0..64).map(|index| if index < 3 { 59 } else { 58 }).collect();
        assert_eq!(sizes(case, 128, Some(&lengths), 1), (79_984_896, 98_908_416));
    }

    #[test]
    fn reserves_are_those_of_a_p100_and_a_header() {
        let reserve = |cell, direction| sizes([0, cell, 0, direction, 4, 320, 320, 250, 100, 0], 123, None, 1).1;
        assert_eq!((reserve(LSTM, 0), reserve(GRU, 0)), (736_000_256, 864_000_256));
        assert_eq!(reserve(LSTM, 1), 2 * 736_000_000 + 256, "a second direction keeps as much again");
    }

    #[test]
    fn inference_keeps_nothing() {
        assert_eq!(sizes([0, GRU, 0, 0, 4, 320, 320, 250, 100, 0], 123, None, 0).1, 0);
    }
}
