//! Counts the parameters of a list of layers.

use super::super::cnn::{Cnn, CnnLayer, Conv, Features};
use super::linear::linear;

/// Sums the parameters of the convolutions, norms and linear layers.
pub(super) fn of_cnn(cnn: &Cnn) -> u128 {
    cnn.layers.iter().zip(cnn.features()).map(|(layer, before)| of_layer(layer, before)).sum()
}

fn of_layer(layer: &CnnLayer, before: Features) -> u128 {
    let inputs = match before {
        Features::Image { channels, .. } => channels,
        Features::Vector(features) => features,
    };
    match *layer {
        CnnLayer::Conv(Conv { channels, window, groups, bias, .. }) => {
            linear(inputs / groups * window.kernel * window.kernel, channels, bias)
        }
        CnnLayer::Norm => 2 * u128::from(inputs),
        CnnLayer::Linear { features, bias } => linear(inputs, features, bias),
        _ => 0,
    }
}
