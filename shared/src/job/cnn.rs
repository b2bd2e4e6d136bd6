//! Convolutional networks as a list of layers: `torch.nn.Sequential` on random images.

mod shape;
mod text;

use std::fmt;

use serde::Serialize;

pub use shape::Features;
pub(super) use text::Fault;

use super::document::Value;
use super::reader::{FromValue, Reader};

/// Layers one after the other, on random images; the last one's features are the classes of a cross entropy.
#[derive(Debug, Clone, PartialEq)]
pub struct Cnn {
    /// Channels of the images, such as three colours.
    pub input_channels: u64,
    /// Height and width of the images, in pixels.
    pub image_size: u64,
    /// Whether images and weights are in `torch.channels_last`.
    pub channels_last: bool,
    /// First to last.
    pub layers: Vec<CnnLayer>,
}

/// A layer of a [`Cnn`]; its text is what a config says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CnnLayer {
    /// `torch.nn.Conv2d`.
    Conv(Conv),
    /// `torch.nn.BatchNorm2d`, and `torch.nn.BatchNorm1d` behind [`CnnLayer::Flatten`].
    Norm,
    /// `torch.nn.ReLU`, which overwrites its input where it is in place.
    Relu {
        /// Whether it works in place.
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
        /// Height and width of its output, in pixels.
        size: u64,
    },
    /// `torch.nn.Dropout`, with its probability.
    Dropout(f64),
    /// `torch.nn.Flatten`.
    Flatten,
    /// `torch.nn.Linear`.
    Linear {
        /// Features of its output.
        features: u64,
        /// Whether it has a bias.
        bias: bool,
    },
}

/// A convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conv {
    /// Channels of its output.
    pub channels: u64,
    /// How its kernel moves over the image.
    pub window: Window,
    /// Pixels between those that the kernel reads.
    pub dilation: u64,
    /// Groups of channels that read nothing of each other.
    pub groups: u64,
    /// Whether it has a bias.
    pub bias: bool,
}

/// What moves over an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its height and width, in pixels.
    pub kernel: u64,
    /// Pixels from one place to the next.
    pub stride: u64,
    /// Pixels that are added at each edge of the image.
    pub padding: u64,
}

/// The layers of a model in a config: how many, or each of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Layers {
    /// So many alike.
    Count(u64),
    /// First to last, as texts such as `conv 64 3`.
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
    /// The first word of its text, such as `conv`.
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

/// The shortest text that stands for the layer.
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

/// An option, where it is not the usual one.
fn option(f: &mut fmt::Formatter<'_>, name: &str, value: u64, usual: u64) -> fmt::Result {
    if value == usual { Ok(()) } else { write!(f, " {name} {value}") }
}

fn flag(f: &mut fmt::Formatter<'_>, name: &str, is_set: bool) -> fmt::Result {
    if is_set { write!(f, " {name}") } else { Ok(()) }
}
