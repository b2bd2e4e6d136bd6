//! Convolutional networks as a list of layers: `torch.nn.Sequential` on random images.

mod shape;
mod text;

use std::fmt;

use serde::Serialize;

pub use shape::Features;
pub(super) use text::Fault;

use super::document::Value;
use super::reader::{FromValue, Reader};

/// A sequence of layers on random images; the features of the last layer are the classes of a cross entropy.
#[derive(Debug, Clone, PartialEq)]
pub struct Cnn {
    /// Channels of the images, for example three colours.
    pub input_channels: u64,
    /// Height and width of the images, in pixels.
    pub image_size: u64,
    /// True if images and weights are in `torch.channels_last`.
    pub channels_last: bool,
    pub layers: Vec<CnnLayer>,
}

/// A layer of a [`Cnn`]; its `Display` form is the text in a config.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CnnLayer {
    /// `torch.nn.Conv2d`.
    Conv(Conv),
    /// `torch.nn.BatchNorm2d`, or `torch.nn.BatchNorm1d` after [`CnnLayer::Flatten`].
    Norm,
    /// `torch.nn.ReLU`.
    Relu {
        /// True if the output overwrites the input.
        inplace: bool,
    },
    /// `torch.nn.GELU`.
    Gelu,
    /// `torch.nn.Sigmoid`.
    Sigmoid,
    /// `torch.nn.Tanh`.
    Tanh,
    /// `torch.nn.MaxPool2d`.
    MaxPool(Window),
    /// `torch.nn.AvgPool2d`.
    AvgPool(Window),
    /// `torch.nn.AdaptiveAvgPool2d`.
    Adaptive {
        /// Height and width of the output, in pixels.
        size: u64,
    },
    /// `torch.nn.Dropout`, with its probability.
    Dropout(f64),
    /// `torch.nn.Flatten`.
    Flatten,
    /// `torch.nn.Linear`.
    Linear {
        /// Features of the output.
        features: u64,
        bias: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conv {
    /// Channels of the output.
    pub channels: u64,
    pub window: Window,
    /// Distance between the pixels that the kernel reads; 1 for adjacent ones.
    pub dilation: u64,
    /// Groups of channels that are convolved separately.
    pub groups: u64,
    pub bias: bool,
}

/// Kernel size and movement of a convolution or a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Height and width of the kernel, in pixels.
    pub kernel: u64,
    /// Distance from one position to the next, in pixels.
    pub stride: u64,
    /// Pixels that are added at each edge of the image.
    pub padding: u64,
}

/// Layers of a model in a config: their number, or a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Layers {
    /// Number of equal layers.
    Count(u64),
    /// Texts such as `conv 64 3`, from first to last.
    Each(Vec<String>),
}

impl FromValue for Layers {
    const EXPECTED: &str = "a whole number or a list of layers";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::List(items) => {
                items.iter().map(|item| String::from_value(item, reader)).collect::<Option<_>>().map(Self::Each)
            }
            one => u64::from_value(one, reader).map(Self::Count),
        }
    }
}

impl CnnLayer {
    /// Returns the first word of the text, such as `conv`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Conv(_) => "conv",
            Self::Norm => "norm",
            Self::Relu { .. } => "relu",
            Self::Gelu => "gelu",
            Self::Sigmoid => "sigmoid",
            Self::Tanh => "tanh",
            Self::MaxPool(_) => "pool",
            Self::AvgPool(_) => "avgpool",
            Self::Adaptive { .. } => "adaptive",
            Self::Dropout(_) => "dropout",
            Self::Flatten => "flatten",
            Self::Linear { .. } => "linear",
        }
    }
}

/// Writes the shortest text that parses to the layer.
impl fmt::Display for CnnLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match *self {
            Self::Conv(Conv { channels, window: Window { kernel, stride, padding }, dilation, groups, bias }) => {
                write!(f, " {channels} {kernel}")?;
                option(f, "stride", stride, 1)?;
                option(f, "padding", padding, 0)?;
                option(f, "dilation", dilation, 1)?;
                option(f, "groups", groups, 1)?;
                flag(f, "no_bias", !bias)
            }
            Self::MaxPool(Window { kernel, stride, padding }) | Self::AvgPool(Window { kernel, stride, padding }) => {
                write!(f, " {kernel}")?;
                option(f, "stride", stride, kernel)?;
                option(f, "padding", padding, 0)
            }
            Self::Relu { inplace } => flag(f, "inplace", inplace),
            Self::Adaptive { size } => write!(f, " {size}"),
            Self::Dropout(probability) => write!(f, " {probability}"),
            Self::Linear { features, bias } => {
                write!(f, " {features}")?;
                flag(f, "no_bias", !bias)
            }
            Self::Norm | Self::Gelu | Self::Sigmoid | Self::Tanh | Self::Flatten => Ok(()),
        }
    }
}

/// Writes an option unless it has its default value.
fn option(f: &mut fmt::Formatter<'_>, name: &str, value: u64, usual: u64) -> fmt::Result {
    if value == usual { Ok(()) } else { write!(f, " {name} {value}") }
}

fn flag(f: &mut fmt::Formatter<'_>, name: &str, is_set: bool) -> fmt::Result {
    if is_set { write!(f, " {name}") } else { Ok(()) }
}
