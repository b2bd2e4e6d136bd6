//! Computes the memory that recurrent networks ask for: a workspace, and a reserve that the backward pass needs.
//!
//! The real library tells these sizes only on a GPU. The formulas are those that cuDNN 9.19 obeyed on an H200, for all 50
//! of 50 measured reserves and 92 of 103 workspaces to the byte; of the others, ten differ by at most 0.1 %, because parts
//! are aligned in a way that is not known where a hidden state of one batch is no multiple of 32 bytes, and one by 8 %.
//! The sizes that a P100 returned years before (PyTorch's issue 2895) give the same reserve, but for 256 bytes.

use super::rnn_weights::{Cell, Network};

/// Shape of a batch of sequences.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Sequences {
    pub(super) batch: usize,
    /// Number of vectors in all sequences, with their padding if they are not packed.
    pub(super) vectors: usize,
    pub(super) is_packed: bool,
}

/// Size at the beginning of each buffer.
const HEADER_BYTES: usize = 256;

/// Size that the matrix products of a layer ask for in each direction.
const PRODUCTS_BYTES: usize = 8 << 20;

/// `CUDNN_DATA_BFLOAT16`, for which no kernel keeps its weights on the chip, whatever the program asks for.
const BFLOAT16: i32 = 9;

fn aligned(bytes: usize) -> usize {
    bytes.next_multiple_of(32)
}

/// Returns the size of the reserve: what each layer computes, and between layers the outputs and what was dropped.
pub(super) fn reserve_bytes(network: &Network, sequences: &Sequences) -> usize {
    let Network { directions, hidden_size, output_size, layers, .. } = *network;
    let part = |values: usize| aligned(values * directions * sequences.vectors * network.element_bytes());
    let computed = match network.cell {
        Cell::Plain => part(hidden_size),
        Cell::Lstm => part(4 * hidden_size) + part(hidden_size),
        Cell::Gru => part(6 * hidden_size),
    };
    let projected = if network.projects() { part(hidden_size + output_size) } else { 0 };
    // One bit for each output of both directions, for each direction that reads it.
    let dropped =
        if network.drops { aligned(directions * directions * output_size * sequences.vectors / 8) } else { 0 };
    HEADER_BYTES + layers * (computed + projected) + layers.saturating_sub(1) * (part(hidden_size) + dropped)
}

/// Returns the size of the workspace, which is the larger one of both passes.
pub(super) fn work_space_bytes(network: &Network, sequences: &Sequences, trains: bool) -> usize {
    let (gates, directions) = (network.cell.gates(), network.directions);
    let (is_lstm, is_deep) = (network.cell == Cell::Lstm, network.layers > 1);
    let is_persistent = network.is_persistent && network.data_type != BFLOAT16;
    // How many hidden states are kept for all steps, and for one step of each layer and direction.
    let cells = if is_lstm { 2 } else { 0 };
    let mut forward = if directions == 1 { [gates + 2, gates + 2 + cells] } else { [2 * gates + 7, gates + 4 + cells] };
    if is_persistent {
        forward = [forward[0] + 4 * gates, 3 + directions + cells];
    }
    if trains && network.drops && is_deep && directions == 1 {
        forward[0] += 1;
    }
    let mut backward = [6 * directions, 3 + 2 * directions];
    if is_persistent {
        backward = [backward[0] + if network.cell == Cell::Gru { 14 } else { 9 }, 5 + directions];
    }
    if is_deep && (directions == 2 || is_persistent) {
        backward[0] += directions;
    }
    let state_bytes = network.hidden_size * network.element_bytes();
    let output_bytes = network.output_size * network.element_bytes();
    let size = |[of_all, of_one]: [usize; 2]| {
        // Sequences that are not packed are copied.
        let (of_all, of_one) =
            if sequences.is_packed { (of_all - 2 * directions, of_one - 2) } else { (of_all, of_one) };
        let all = sequences.vectors * of_all;
        let one = sequences.batch * network.pseudo_layers() * of_one;
        (all + one) * state_bytes
    };
    let states = if trains && !is_lstm { size(forward).max(size(backward)) } else { size(forward) };
    let outputs = if network.projects() { directions * sequences.vectors } else { 0 };
    let cell_outputs = if is_lstm { 2 * sequences.batch * network.pseudo_layers() } else { 0 };
    let lengths = if sequences.is_packed { 0 } else { aligned(8 * sequences.batch) };
    let products = network.all_matrices_len() * network.element_bytes() + network.pseudo_layers() * PRODUCTS_BYTES;
    HEADER_BYTES + lengths + products + states + (outputs + cell_outputs) * output_bytes
}
