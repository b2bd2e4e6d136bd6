//! Writes lists of layers with every key.

use super::super::cnn::{Cnn, Layers};
use super::super::raw::RawModel;

pub(super) fn raw_cnn(cnn: &Cnn) -> RawModel {
    RawModel {
        input: Some(cnn.input_channels),
        layers: Some(Layers::Each(cnn.layers.iter().map(ToString::to_string).collect())),
        image_size: Some(cnn.image_size),
        channels_last: Some(cnn.channels_last),
        ..RawModel::default()
    }
}
