//! Lists of layers with published sizes, as torchvision builds them.

use super::super::cnn::{Cnn, CnnLayer, Conv, Window};
use super::super::model::Model;

const RELU: CnnLayer = CnnLayer::Relu { inplace: true };

/// Returns `torchvision.models.alexnet`.
pub(super) fn alexnet() -> Model {
    let pool = || pool(3);
    let mut layers = vec![conv(64, 11, 4, 2), RELU, pool(), conv(192, 5, 1, 2), RELU, pool()];
    for channels in [384, 256, 256] {
        layers.extend([conv(channels, 3, 1, 1), RELU]);
    }
    layers.extend([pool(), CnnLayer::Adaptive { size: 6 }, CnnLayer::Flatten]);
    let half = CnnLayer::Dropout(0.5);
    layers.extend([half, linear(4096), RELU, half, linear(4096), RELU, linear(1000)]);
    images(layers)
}

/// Returns `torchvision.models.vgg16`, or `vgg16_bn` if it has norms.
pub(super) fn vgg16(has_norms: bool) -> Model {
    let mut layers = Vec::new();
    for (count, channels) in [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)] {
        for _ in 0..count {
            layers.push(conv(channels, 3, 1, 1));
            layers.extend(has_norms.then_some(CnnLayer::Norm));
            layers.push(RELU);
        }
        layers.push(pool(2));
    }
    layers.extend([CnnLayer::Adaptive { size: 7 }, CnnLayer::Flatten]);
    let half = CnnLayer::Dropout(0.5);
    layers.extend([linear(4096), RELU, half, linear(4096), RELU, half, linear(1000)]);
    images(layers)
}

fn images(layers: Vec<CnnLayer>) -> Model {
    Model::Cnn(Cnn { input_channels: 3, image_size: 224, channels_last: false, layers })
}

const fn conv(channels: u64, kernel: u64, stride: u64, padding: u64) -> CnnLayer {
    let window = Window { kernel, stride, padding };
    CnnLayer::Conv(Conv { channels, window, dilation: 1, groups: 1, bias: true })
}

/// Returns a max pool of stride 2.
const fn pool(kernel: u64) -> CnnLayer {
    CnnLayer::MaxPool(Window { kernel, stride: 2, padding: 0 })
}

const fn linear(features: u64) -> CnnLayer {
    CnnLayer::Linear { features, bias: true }
}
