//! Imports residual networks of transformers that torchvision has too.

use super::super::document::Value;
use super::super::raw::RawModel;
use super::super::reader::Reader;

/// Note on each of [`SHAPE_KEYS`].
pub(super) const NOTE: &str = "part of model.depth";

/// Keys that together decide which network it is.
pub(super) const SHAPE_KEYS: &[&str] = &["depths", "layer_type", "hidden_sizes", "embedding_size"];

/// Networks that can be recorded: blocks of each stage, kind of block, channels of each stage, and depth.
const NETWORKS: &[([i64; 4], &str, [i64; 4], u64)] = &[
    ([3, 4, 6, 3], "bottleneck", WIDE, 50),
    ([2, 2, 2, 2], "basic", NARROW, 18),
    ([3, 4, 6, 3], "basic", NARROW, 34),
    ([3, 4, 23, 3], "bottleneck", WIDE, 101),
    ([3, 8, 36, 3], "bottleneck", WIDE, 152),
];

/// Output channels of each stage of basic blocks.
const NARROW: [i64; 4] = [64, 128, 256, 512];

/// Output channels of each stage of bottlenecks.
const WIDE: [i64; 4] = [256, 512, 1024, 2048];

/// Output channels of the first convolution.
const STEM: i64 = 64;

/// Sets the depth of the network that a config describes; missing keys have the values of ResNet-50.
pub(super) fn shape(config: &Value, model: &mut RawModel, reader: &mut Reader<'_>) {
    let (usual_blocks, usual_kind, usual_channels, _) = NETWORKS[0];
    let blocks = wholes(config, "depths", &usual_blocks);
    let channels = wholes(config, "hidden_sizes", &usual_channels);
    let kind = match config.get("layer_type") {
        Some(Value::Text(kind)) => kind.as_str(),
        _ => usual_kind,
    };
    let has_stem = matches!(config.get("embedding_size"), None | Some(Value::Null | Value::Whole(STEM)));
    let known = NETWORKS.iter().find(|(known_blocks, known_kind, known_channels, _)| {
        *known_kind == kind && known_blocks[..] == blocks && known_channels[..] == channels
    });
    match known.filter(|_| has_stem) {
        Some((.., depth)) => model.depth = Some(*depth),
        None => {
            let message = "residual networks of this shape are not supported".to_owned();
            reader.problem("depths", message, "the supported ones are ResNet-18, 34, 50, 101 and 152");
        }
    }
}

/// Returns a list of whole numbers; other values become -1, which fits no network.
fn wholes(config: &Value, key: &str, usual: &[i64]) -> Vec<i64> {
    let Some(Value::List(items)) = config.get(key) else { return usual.to_vec() };
    items.iter().map(|item| if let Value::Whole(number) = item { *number } else { -1 }).collect()
}
