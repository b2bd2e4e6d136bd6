//! Lays out the weights of a recurrent network in one buffer.
//!
//! The matrices come first, layer by layer and direction by direction, then the biases in the same order:
//!
//! ```text
//! layer 0, forward           layer 0, backward   layer 1 …   biases
//! W_0 … W_g | R_0 … R_g | P  W_0 …               …           b_W0 … b_Wg | b_R0 … b_Rg  …
//! ```
//!
//! W multiplies the input, R the state, and P, in an LSTM with projection, turns the state into the output.
//! PyTorch asks for each matrix, and needs those of one layer and kind to be contiguous.

use std::ffi::c_int;

use super::descriptor::Tensor;
use super::status::{BAD_PARAMETER, NULL_POINTER, SUCCESS, element_bytes};
use crate::ffi::{Handle, Out};

/// Kind of cell (`cudnnRNNMode_t`).
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    /// Simple cell with one gate, and ReLU or tanh as its activation.
    #[default]
    Plain,
    Lstm,
    Gru,
}

impl Cell {
    /// Returns the cell of a number in `cudnnRNNMode_t`.
    pub(super) fn from_code(code: c_int) -> Option<Self> {
        match code {
            0 | 1 => Some(Self::Plain),
            2 => Some(Self::Lstm),
            3 => Some(Self::Gru),
            _ => None,
        }
    }

    /// Returns the number of gates, which is the number of matrices of each kind in a layer.
    pub(super) fn gates(self) -> usize {
        match self {
            Self::Plain => 1,
            Self::Lstm => 4,
            Self::Gru => 3,
        }
    }
}

/// Descriptor of a recurrent network.
#[derive(Debug, Default, Clone)]
pub(super) struct Network {
    pub(super) cell: Cell,
    /// True if kernels keep the weights on the chip (`CUDNN_RNN_ALGO_PERSIST_…`).
    pub(super) is_persistent: bool,
    /// True if outputs between layers are dropped.
    pub(super) drops: bool,
    pub(super) input_bias: bool,
    pub(super) recurrent_bias: bool,
    /// 1, or 2 if the sequence is also read backward.
    pub(super) directions: usize,
    /// True if the first layer has no input matrices (`CUDNN_SKIP_INPUT`).
    pub(super) skips_input: bool,
    pub(super) data_type: c_int,
    pub(super) input_size: usize,
    pub(super) hidden_size: usize,
    /// Size of the output, which is the hidden size, or less after a projection.
    pub(super) output_size: usize,
    pub(super) layers: usize,
}

/// Offset and shape of a matrix or a bias, in elements.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    offset: usize,
    rows: usize,
    columns: usize,
}

/// `linLayerID` of the projection.
const PROJECTION: usize = 8;

impl Network {
    /// Returns the size of an element, in bytes; that of a float if the descriptor was never set.
    pub(super) fn element_bytes(&self) -> usize {
        element_bytes(self.data_type).unwrap_or(4)
    }

    /// Returns the number of layers, each direction counted separately.
    pub(super) fn pseudo_layers(&self) -> usize {
        self.layers * self.directions
    }

    pub(super) fn projects(&self) -> bool {
        self.cell == Cell::Lstm && self.output_size != self.hidden_size
    }

    /// Returns the number of columns of the matrices that multiply a layer's input.
    fn input_columns(&self, pseudo_layer: usize) -> usize {
        match (pseudo_layer < self.directions, self.skips_input) {
            (true, true) => 0,
            (true, false) => self.input_size,
            (false, _) => self.output_size * self.directions,
        }
    }

    /// Returns the number of elements of all matrices.
    pub(super) fn all_matrices_len(&self) -> usize {
        (0..self.pseudo_layers()).map(|layer| self.matrices_len(layer)).sum()
    }

    /// Returns the number of elements of a layer's matrices.
    fn matrices_len(&self, pseudo_layer: usize) -> usize {
        let gates = self.cell.gates() * self.hidden_size * (self.input_columns(pseudo_layer) + self.output_size);
        gates + if self.projects() { self.output_size * self.hidden_size } else { 0 }
    }

    /// Returns the number of elements of a layer's biases.
    fn biases_len(&self) -> usize {
        let kinds = usize::from(self.input_bias) + usize::from(self.recurrent_bias);
        kinds * self.cell.gates() * self.hidden_size
    }

    /// Returns the number of elements of the buffer.
    fn weights_len(&self) -> usize {
        self.all_matrices_len() + self.pseudo_layers() * self.biases_len()
    }

    /// Returns a matrix of a layer, or `None` if the network has none with this `linLayerID`.
    fn matrix(&self, pseudo_layer: usize, id: usize) -> Option<Part> {
        let gates = self.cell.gates();
        let columns = self.input_columns(pseudo_layer);
        let before: usize = (0..pseudo_layer).map(|layer| self.matrices_len(layer)).sum();
        let recurrent = before + gates * self.hidden_size * columns;
        let part = if id < gates {
            Part { offset: before + id * self.hidden_size * columns, rows: self.hidden_size, columns }
        } else if id < 2 * gates {
            let offset = recurrent + (id - gates) * self.hidden_size * self.output_size;
            Part { offset, rows: self.hidden_size, columns: self.output_size }
        } else if id == PROJECTION && self.projects() {
            let offset = recurrent + gates * self.hidden_size * self.output_size;
            Part { offset, rows: self.output_size, columns: self.hidden_size }
        } else {
            return None;
        };
        (part.columns > 0).then_some(part)
    }

    /// Returns a bias of a layer, or `None` if the network has none with this `linLayerID`.
    fn bias(&self, pseudo_layer: usize, id: usize) -> Option<Part> {
        let gates = self.cell.gates();
        let place = match id {
            id if id < gates && self.input_bias => id,
            id if (gates..2 * gates).contains(&id) && self.recurrent_bias => {
                if self.input_bias {
                    id
                } else {
                    id - gates
                }
            }
            _ => return None,
        };
        let offset = self.all_matrices_len() + pseudo_layer * self.biases_len() + place * self.hidden_size;
        Some(Part { offset, rows: self.hidden_size, columns: 1 })
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudnnGetRNNWeightSpaceSize(_handle: Handle, network: Option<&Network>, size: Out<usize>) -> c_int {
    let Some(network) = network else { return NULL_POINTER };
    size.put_if_wanted(network.weights_len() * network.element_bytes());
    SUCCESS
}

/// Returns the addresses and the shapes of a matrix and its bias.
///
/// An address is null if the network has no such part.
#[unsafe(no_mangle)]
extern "C" fn cudnnGetRNNWeightParams(
    _handle: Handle,
    network: Option<&Network>,
    pseudo_layer: i32,
    _size: usize,
    weights: Handle,
    id: i32,
    matrix: Option<&mut Tensor>,
    matrix_address: Out<Handle>,
    bias: Option<&mut Tensor>,
    bias_address: Out<Handle>,
) -> c_int {
    let Some(network) = network else { return NULL_POINTER };
    let (Ok(pseudo_layer), Ok(id)) = (usize::try_from(pseudo_layer), usize::try_from(id)) else {
        return BAD_PARAMETER;
    };
    if pseudo_layer >= network.pseudo_layers() {
        return BAD_PARAMETER;
    }
    describe(network, network.matrix(pseudo_layer, id), weights, matrix, matrix_address);
    describe(network, network.bias(pseudo_layer, id), weights, bias, bias_address);
    SUCCESS
}

/// Writes the shape and the address of a part, or a null address if there is none.
fn describe(network: &Network, part: Option<Part>, weights: Handle, tensor: Option<&mut Tensor>, address: Out<Handle>) {
    let Some(part) = part else {
        address.put_if_wanted(std::ptr::null_mut());
        return;
    };
    if let Some(tensor) = tensor {
        tensor.set_packed(network.data_type, &[1, part.rows as c_int, part.columns as c_int]);
    }
    address.put_if_wanted(weights.wrapping_byte_add(part.offset * network.element_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(cell: Cell, layers: usize, directions: usize, output_size: usize) -> Network {
        Network {
            cell,
            input_bias: true,
            recurrent_bias: true,
            directions,
            layers,
            input_size: 3,
            hidden_size: 5,
            output_size,
            ..Network::default()
        }
    }

    /// Returns all parts of the network, sorted by offset.
    fn parts(network: &Network) -> Vec<Part> {
        let layers = 0..network.pseudo_layers();
        let mut parts: Vec<Part> = layers
            .flat_map(|layer| (0..=PROJECTION).map(move |id| (layer, id)))
            .flat_map(|(layer, id)| [network.matrix(layer, id), network.bias(layer, id)])
            .flatten()
            .collect();
        parts.sort_by_key(|part| part.offset);
        parts
    }

    #[track_caller]
    fn check_parts_fill_the_buffer(network: &Network) {
        let mut end = 0;
        for part in parts(network) {
            assert_eq!(part.offset, end, "{part:?}");
            end += part.rows * part.columns;
        }
        assert_eq!(end, network.weights_len());
    }

    #[test]
    fn parts_lie_side_by_side_and_fill_the_buffer() {
        check_parts_fill_the_buffer(&network(Cell::Plain, 1, 1, 5));
        check_parts_fill_the_buffer(&network(Cell::Lstm, 3, 2, 5));
        check_parts_fill_the_buffer(&network(Cell::Gru, 2, 1, 5));
        check_parts_fill_the_buffer(&network(Cell::Lstm, 2, 2, 4));
        check_parts_fill_the_buffer(&Network { input_bias: false, ..network(Cell::Lstm, 2, 1, 5) });
        check_parts_fill_the_buffer(&Network { skips_input: true, ..network(Cell::Gru, 2, 2, 5) });
    }

    #[test]
    fn a_network_has_as_many_parameters_as_in_pytorch() {
        // torch.nn.LSTM(3, 5, num_layers=2, bidirectional=True) and torch.nn.LSTM(3, 5, proj_size=4).
        assert_eq!(network(Cell::Lstm, 2, 2, 5).weights_len(), 1_080);
        assert_eq!(network(Cell::Lstm, 1, 1, 4).weights_len(), 200);
    }

    #[test]
    fn addresses_count_bytes_and_what_is_missing_is_null() {
        let network = network(Cell::Gru, 1, 1, 5);
        let (mut matrix, mut bias) = (Tensor::default(), Tensor::default());
        let mut address = [std::ptr::null_mut::<std::ffi::c_void>(); 2];
        let [matrix_address, bias_address] = &mut address;
        let base = 0x1000 as Handle;
        let mut ask = |id| {
            let outs = (Out::to(matrix_address), Out::to(bias_address));
            let tensors = (Some(&mut matrix), Some(&mut bias));
            cudnnGetRNNWeightParams(base, Some(&network), 0, 0, base, id, tensors.0, outs.0, tensors.1, outs.1)
        };
        assert_eq!(ask(1), SUCCESS);
        // The second of three 5 × 3 matrices, and the second of the biases, after 3 × 5 × (3 + 5) elements.
        assert_eq!(address.map(|place| place as usize), [0x1000 + 4 * 15, 0x1000 + 4 * (120 + 5)]);
        let mut packed = Tensor::default();
        packed.set_packed(0, &[1, 5, 3]);
        assert_eq!(matrix, packed);
    }
}
