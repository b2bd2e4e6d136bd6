//! Defines colours in sRGB, with mixing and contrast.

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color {
    /// `0xRRGGBB`.
    pub rgb: u32,
    /// Opacity, `0.0..=1.0`.
    pub alpha: f32,
}

impl Color {
    /// Creates an opaque colour from `0xRRGGBB`.
    pub const fn new(rgb: u32) -> Self {
        Self { rgb, alpha: 1.0 }
    }

    pub const fn with_alpha(self, alpha: f32) -> Self {
        Self { alpha, ..self }
    }

    /// Returns red, green and blue, `0..=255` each.
    pub fn channels(self) -> [u8; 3] {
        let [_, red, green, blue] = self.rgb.to_be_bytes();
        [red, green, blue]
    }

    /// Returns red, green, blue and opacity, `0.0..=1.0` each.
    pub fn floats(self) -> [f32; 4] {
        let [red, green, blue] = self.channels().map(|channel| f32::from(channel) / 255.0);
        [red, green, blue, self.alpha]
    }

    pub fn css(self) -> String {
        let [red, green, blue] = self.channels();
        format!("rgb({red} {green} {blue} / {})", self.alpha)
    }

    /// Mixes the colour with another one: a `share` of `0.0` gives this one, `1.0` the other with this one's opacity.
    pub fn mixed(self, other: Self, share: f32) -> Self {
        let channels: Vec<u32> = (self.channels().iter().zip(other.channels()))
            .map(|(&a, b)| (f32::from(a) + (f32::from(b) - f32::from(a)) * share).round() as u32)
            .collect();
        Self { rgb: channels[0] << 16 | channels[1] << 8 | channels[2], alpha: self.alpha }
    }

    /// Computes the relative luminance by WCAG 2.
    pub fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = self.channels().map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// Computes the contrast ratio by WCAG 2, `1.0..=21.0`.
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Returns black or white, whichever is easier to read on this colour.
    ///
    /// One of the two always has a contrast of at least 4.5.
    pub fn text_on(self) -> Self {
        let (black, white) = (Self::new(0), Self::new(0xffffff));
        if self.contrast(black) >= self.contrast(white) { black } else { white }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_written_as_css() {
        assert_eq!(Color::new(0x0a_14_1e).css(), "rgb(10 20 30 / 1)");
        assert_eq!(Color::new(0xffffff).with_alpha(0.5).css(), "rgb(255 255 255 / 0.5)");
    }

    #[test]
    fn black_on_white_has_the_highest_contrast() {
        assert!((Color::new(0).contrast(Color::new(0xffffff)) - 21.0).abs() < 1e-9);
    }

    #[test]
    fn mixing_ends_at_the_other_colour() {
        let (a, b) = (Color::new(0x102030), Color::new(0xf0e0d0));
        assert_eq!(a.mixed(b, 0.0), a);
        assert_eq!(a.mixed(b, 1.0), b);
    }
}
