//! Computes the number of parameters of a model from its sizes.

use super::cnn::{Cnn, CnnLayer, Conv, Features};
use super::model::{Bert, Mlp, Model, ResNet, ResNetDepth, Rnn};
use super::training::Training;
use super::transformer::{Activation, Norm, Positions, Transformer};

impl Training {
    /// Returns the parameters of the model and its adapters; shared ones count once.
    pub fn parameters(&self) -> u64 {
        self.model.parameters().saturating_add(self.adapter_parameters())
    }

    /// Returns the parameters that the optimizer updates: only those of the adapters if there are any.
    pub fn trained_parameters(&self) -> u64 {
        if self.lora.is_some() { self.adapter_parameters() } else { self.model.parameters() }
    }

    fn adapter_parameters(&self) -> u64 {
        let parameters = match (&self.lora, &self.model) {
            (Some(lora), Model::Transformer(model)) => lora.parameters(model),
            _ => 0,
        };
        u64::try_from(parameters).unwrap_or(u64::MAX)
    }
}

impl Model {
    /// Returns the parameters of the model; shared ones count once. Saturates at `u64::MAX`.
    pub fn parameters(&self) -> u64 {
        let parameters = match self {
            Self::Mlp(mlp) => of_mlp(mlp),
            Self::ResNet(resnet) => of_resnet(resnet),
            Self::Transformer(transformer) => of_transformer(transformer),
            Self::Bert(bert) => of_bert(bert),
            Self::Rnn(rnn) => of_rnn(rnn),
            Self::Cnn(cnn) => of_cnn(cnn),
        };
        u64::try_from(parameters).unwrap_or(u64::MAX)
    }
}

/// Counts the weights of a linear layer and its bias.
fn linear(inputs: u64, outputs: u64, bias: bool) -> u128 {
    (u128::from(inputs) + u128::from(bias)) * u128::from(outputs)
}

fn of_mlp(mlp: &Mlp) -> u128 {
    let inputs = [mlp.input_features].into_iter().chain(mlp.hidden_features.iter().copied());
    let outputs = mlp.hidden_features.iter().copied().chain([mlp.classes]);
    inputs.zip(outputs).map(|(inputs, outputs)| linear(inputs, outputs, mlp.bias)).sum()
}

fn of_transformer(model: &Transformer) -> u128 {
    let hidden = u128::from(model.hidden);
    let embedding = u128::from(model.vocabulary) * hidden;
    let positions = match model.positions {
        Positions::Learned => u128::from(model.max_positions) * hidden,
        Positions::Rotary(_) => 0,
    };
    let norm = match model.norm {
        Norm::LayerNorm(_) => 2 * hidden,
        Norm::RmsNorm(_) => hidden,
    };
    let head = if model.tied_head { 0 } else { embedding };
    let layer = of_attention(model) + of_feed_forward(model) + 2 * norm;
    embedding + positions + u128::from(model.layers) * layer + norm + head
}

fn of_attention(model: &Transformer) -> u128 {
    let bias = model.qkv_bias;
    let queries = model.heads * model.head_dim;
    let keys = model.kv_heads * model.head_dim;
    linear(model.hidden, queries, bias)
        + 2 * linear(model.hidden, keys, bias)
        + linear(queries, model.hidden, model.attention_bias)
}

fn of_feed_forward(model: &Transformer) -> u128 {
    let ups = if model.activation == Activation::SwiGlu { 2 } else { 1 };
    ups * linear(model.hidden, model.intermediate, model.mlp_bias)
        + linear(model.intermediate, model.hidden, model.mlp_bias)
}

/// Counts a convolution without a bias and the batch norm after it.
fn convolution(inputs: u64, outputs: u64, kernel: u64) -> u128 {
    u128::from(outputs) * u128::from(inputs * kernel * kernel + 2)
}

/// Counts the stem, four stages whose first block may widen its shortcut, and the linear layer.
///
/// Source: He et al., "Deep Residual Learning for Image Recognition", table 1, as torchvision builds it.
fn of_resnet(resnet: &ResNet) -> u128 {
    let expansion = if resnet.depth.has_bottlenecks() { 4 } else { 1 };
    let mut inputs = 64;
    let mut parameters = convolution(3, inputs, 7);
    for (count, width) in resnet.depth.blocks().into_iter().zip([64, 128, 256, 512]) {
        let outputs = width * expansion;
        if inputs != outputs {
            parameters += convolution(inputs, outputs, 1);
        }
        for _ in 0..count {
            parameters += of_block(resnet.depth, inputs, width, outputs);
            inputs = outputs;
        }
    }
    parameters + linear(inputs, resnet.classes, true)
}

fn of_block(depth: ResNetDepth, inputs: u64, width: u64, outputs: u64) -> u128 {
    if depth.has_bottlenecks() {
        convolution(inputs, width, 1) + convolution(width, width, 3) + convolution(width, outputs, 1)
    } else {
        convolution(inputs, width, 3) + convolution(width, outputs, 3)
    }
}

/// Counts the embeddings with their norm, the layers, and the head.
///
/// The decoder in the head is tied to the embeddings, so only its bias counts.
fn of_bert(bert: &Bert) -> u128 {
    let Bert { vocabulary, layers, hidden, intermediate, max_positions, token_types, .. } = *bert;
    let norm = 2 * u128::from(hidden);
    let embeddings = u128::from(vocabulary + max_positions + token_types) * u128::from(hidden);
    let attention = 4 * linear(hidden, hidden, true);
    let feed_forward = linear(hidden, intermediate, true) + linear(intermediate, hidden, true);
    let head = linear(hidden, hidden, true) + norm + u128::from(vocabulary);
    embeddings + norm + u128::from(layers) * (attention + feed_forward + 2 * norm) + head
}

/// Counts the embedding, the layers, and the head; a tied head has only its bias.
fn of_rnn(rnn: &Rnn) -> u128 {
    let embedding = u128::from(rnn.vocabulary) * u128::from(rnn.embedding);
    let head = linear(rnn.hidden, rnn.vocabulary, true);
    let head = if rnn.tied_head { u128::from(rnn.vocabulary) } else { head };
    let layers = of_rnn_layer(rnn, rnn.embedding) + u128::from(rnn.layers - 1) * of_rnn_layer(rnn, rnn.hidden);
    embedding + layers + head
}

/// Counts the matrices of a layer for its input and for its state, each with a bias.
fn of_rnn_layer(rnn: &Rnn, inputs: u64) -> u128 {
    let outputs = rnn.cell.gates() * rnn.hidden;
    linear(inputs, outputs, true) + linear(rnn.hidden, outputs, true)
}

/// Sums the parameters of the convolutions, norms and linear layers.
fn of_cnn(cnn: &Cnn) -> u128 {
    cnn.layers.iter().zip(cnn.features()).map(|(layer, before)| of_cnn_layer(layer, before)).sum()
}

fn of_cnn_layer(layer: &CnnLayer, before: Features) -> u128 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecurrentCell;

    #[track_caller]
    fn check(preset: &str, parameters: u64) {
        assert_eq!(Model::preset(preset).unwrap().parameters(), parameters);
    }

    #[test]
    fn presets_have_their_published_sizes() {
        check("resnet18", 11_689_512);
        check("resnet34", 21_797_672);
        check("resnet50", 25_557_032);
        check("resnet101", 44_549_160);
        check("resnet152", 60_192_808);
        check("gpt2", 124_439_808);
        check("gpt2-medium", 354_823_168);
        check("gpt2-large", 774_030_080);
        check("gpt2-xl", 1_557_611_200);
        check("tinyllama-1.1b", 1_100_048_384);
        check("llama-2-7b", 6_738_415_616);
        check("llama-3-8b", 8_030_261_248);
        check("llama-3.1-8b", 8_030_261_248);
        check("llama-3.2-1b", 1_235_814_400);
        check("llama-3.2-3b", 3_212_749_824);
        check("llama-3-70b", 70_553_706_496);
        check("mistral-7b", 7_248_023_552);
        check("qwen2.5-0.5b", 494_032_768);
        check("qwen2.5-1.5b", 1_543_714_304);
        check("qwen2.5-7b", 7_615_616_512);
        check("mlp", 1024 * 4096 + 4096 + 4096 * 4096 + 4096 + 4096 * 1000 + 1000);
        check("alexnet", 61_100_840);
        check("vgg16", 138_357_544);
        check("vgg16-bn", 138_365_992);
        check("bert-base", 109_514_298);
        check("bert-large", 335_174_458);
        // The paper says 20 and 66 million.
        check("lstm-medium", 19_780_400);
        check("lstm-large", 66_034_000);
    }

    #[test]
    fn a_gru_has_three_quarters_of_the_matrices() {
        let Some(Model::Rnn(mut rnn)) = Model::preset("lstm-medium") else { panic!("a recurrent model") };
        rnn.cell = RecurrentCell::Gru;
        let layers = 2 * 3 * 2 * (650 * 650 + 650);
        assert_eq!(Model::Rnn(rnn).parameters(), 10_000 * 650 + layers + 10_000 * 650 + 10_000);
    }
}
