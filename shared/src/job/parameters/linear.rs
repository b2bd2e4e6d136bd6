//! Counts the parameters of linear layers.

/// Counts the weights of a linear layer and its bias.
pub(super) fn linear(inputs: u64, outputs: u64, bias: bool) -> u128 {
    (u128::from(inputs) + u128::from(bias)) * u128::from(outputs)
}
