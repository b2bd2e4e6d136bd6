//! Computes the output shape of each layer, and reports layers that do not fit their input.

use super::{Cnn, CnnLayer, Conv, Fault, Window};

/// Shape of a sample between two layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Features {
    Image {
        channels: u64,
        /// Height and width, in pixels.
        size: u64,
    },
    /// Features without spatial order.
    Vector(u64),
}

impl Features {
    /// Returns the number of elements in a sample.
    pub fn count(self) -> u128 {
        match self {
            Self::Image { channels, size } => u128::from(channels) * u128::from(size) * u128::from(size),
            Self::Vector(features) => u128::from(features),
        }
    }

    fn in_words(self) -> String {
        match self {
            Self::Image { channels, size } => format!("{channels} channels of {size} × {size} pixels"),
            Self::Vector(features) => format!("{features} features"),
        }
    }
}

impl Cnn {
    /// Returns the shape of the images and of the output of each layer.
    ///
    /// # Panics
    ///
    /// Panics if a layer does not fit, which no resolved config has.
    pub fn features(&self) -> Vec<Features> {
        let mut features = vec![self.images()];
        for layer in &self.layers {
            let before = features[features.len() - 1];
            features.push(layer.after(before).expect("layers were checked when the config was resolved"));
        }
        features
    }

    pub(crate) const fn images(&self) -> Features {
        Features::Image { channels: self.input_channels, size: self.image_size }
    }

    /// Returns the number of classes.
    ///
    /// # Panics
    ///
    /// Panics as [`Cnn::features`] does.
    pub fn classes(&self) -> u64 {
        match self.features().last() {
            Some(Features::Vector(classes)) => *classes,
            _ => unreachable!("the last layer leaves classes"),
        }
    }
}

impl CnnLayer {
    pub(crate) fn after(&self, before: Features) -> Result<Features, Fault> {
        match (*self, before) {
            (Self::Conv(conv), Features::Image { channels, size }) => conv.after(channels, size),
            (Self::MaxPool(window) | Self::AvgPool(window), Features::Image { channels, size }) => {
                Ok(Features::Image { channels, size: window.after(size, 1)? })
            }
            (Self::Adaptive { size }, Features::Image { channels, .. }) => Ok(Features::Image { channels, size }),
            (Self::Flatten, Features::Image { .. }) => flattened(before),
            (Self::Linear { features, .. }, Features::Vector(_)) => Ok(Features::Vector(features)),
            (Self::Linear { .. }, Features::Image { .. }) => Err(Fault::new(
                format!("a linear layer needs a vector, not {}", before.in_words()),
                "write `flatten` before it",
            )),
            (Self::Conv(_) | Self::MaxPool(_) | Self::AvgPool(_) | Self::Adaptive { .. }, Features::Vector(_)) => {
                let message = format!("this layer needs an image, not {}", before.in_words());
                Err(Fault::new(message, "move it before `flatten`"))
            }
            (Self::Flatten, Features::Vector(_)) => Err(Fault::new("the input is already flat", "remove it")),
            (Self::Norm | Self::Relu { .. } | Self::Gelu | Self::Sigmoid | Self::Tanh | Self::Dropout(_), features) => {
                Ok(features)
            }
        }
    }

    /// Returns true if backward reads the output of the layer, so that nothing may overwrite it.
    pub(crate) const fn keeps_its_output(&self) -> bool {
        matches!(self, Self::Relu { .. } | Self::Sigmoid | Self::Tanh)
    }

    /// Returns true if the output of the layer is the same memory as its input.
    pub(crate) fn hands_on(&self) -> bool {
        matches!(self, Self::Flatten) || matches!(self, Self::Dropout(probability) if *probability == 0.0)
    }
}

fn flattened(image: Features) -> Result<Features, Fault> {
    let count = u64::try_from(image.count());
    count.map(Features::Vector).map_err(|_| Fault::new("the image is too large", "write a smaller `image_size`"))
}

impl Conv {
    fn after(&self, channels: u64, size: u64) -> Result<Features, Fault> {
        if !channels.is_multiple_of(self.groups) || !self.channels.is_multiple_of(self.groups) {
            let message =
                format!("{channels} and {} channels are not both divisible by {} groups", self.channels, self.groups);
            return Err(Fault::new(message, "write a divisor of both"));
        }
        Ok(Features::Image { channels: self.channels, size: self.window.after(size, self.dilation)? })
    }
}

impl Window {
    /// Returns the output's height and width: the number of positions at which the window lies within the padded image.
    fn after(&self, size: u64, dilation: u64) -> Result<u64, Fault> {
        let padded = size + 2 * self.padding;
        let reach = dilation * (self.kernel - 1) + 1;
        match padded.checked_sub(reach) {
            Some(room) => Ok(room / self.stride + 1),
            None => {
                let message = format!("a window of {reach} × {reach} does not fit an image of {size} × {size} pixels");
                Err(Fault::new(message, "write a smaller kernel or a larger `image_size`, or add padding"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: Features = Features::Image { channels: 64, size: 7 };

    #[track_caller]
    fn check(layer: &str, before: Features, after: Features) {
        assert_eq!(CnnLayer::parse(layer).unwrap().after(before).unwrap(), after);
    }

    #[track_caller]
    fn check_fault(layer: &str, before: Features, fault: &str) {
        let Fault { message, hint } = CnnLayer::parse(layer).unwrap().after(before).unwrap_err();
        assert_eq!(format!("{message}; {hint}"), fault);
    }

    #[test]
    fn windows_leave_the_places_that_they_have() {
        let image = |channels, size| Features::Image { channels, size };
        check("conv 8 3", IMAGE, image(8, 5));
        check("conv 8 3 padding 1", IMAGE, image(8, 7));
        check("conv 8 3 stride 2", IMAGE, image(8, 3));
        check("conv 8 3 dilation 3", IMAGE, image(8, 1));
        check("pool 2", IMAGE, image(64, 3));
        check("avgpool 3 stride 1", IMAGE, image(64, 5));
        check("adaptive 9", IMAGE, image(64, 9));
        check("flatten", IMAGE, Features::Vector(64 * 49));
        check("linear 10", Features::Vector(5), Features::Vector(10));
        check("norm", Features::Vector(5), Features::Vector(5));
    }

    #[test]
    fn layers_that_do_not_fit_say_what_would() {
        let vector = Features::Vector(512);
        let window = "a window of 9 × 9 does not fit an image of 7 × 7 pixels; write a smaller kernel or a larger \
                      `image_size`, or add padding";
        check_fault("conv 8 9", IMAGE, window);
        let image = "a linear layer needs a vector, not 64 channels of 7 × 7 pixels; write `flatten` before it";
        check_fault("linear 10", IMAGE, image);
        check_fault("pool 2", vector, "this layer needs an image, not 512 features; move it before `flatten`");
        check_fault("flatten", vector, "the input is already flat; remove it");
        let groups = "64 and 9 channels are not both divisible by 3 groups; write a divisor of both";
        check_fault("conv 9 3 groups 3", IMAGE, groups);
    }
}
