//! Which colour a band gets.
//!
//! `raster` makes a palette of it.

use super::{color::Color, theme::Theme};
use serde::{Deserialize, Serialize};

/// What the colours of a picture tell apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColorBy {
    /// Stacks.
    #[default]
    Stack,
    /// What allocations are for.
    Category,
}

/// How many shades a hue is drawn in.
pub const SHADES: u32 = 3;

/// How far the shades of a hue lie apart.
pub const SHADE_STEP: f32 = 0.10;

/// Distance of the stripes on memory from before the trace, in CSS pixels.
pub const HATCH_PERIOD: f64 = 8.0;

/// Bands of this height or less have no separator, in device pixels: it would be all there is of them.
pub const SEPARATED: f64 = 5.0;

/// How far the hue of merged allocations gives way to grey: it is that of most of them and not of all.
pub const MERGED_SHARE: f32 = 0.42;

/// How strong the lower edges of merged allocations are beside those of single ones.
pub const MERGED_SEPARATOR_SHARE: f32 = 0.4;

/// How far the band under the cursor is lit up.
pub const HOVER_SHARE: f32 = 0.32;

/// How far the pinned band takes on the accent.
pub const PIN_SHARE: f32 = 0.55;

/// How far all other bands step back while one is pinned.
pub const DIM_SHARE: f32 = 0.42;

/// The fill of an allocation with this colour number.
///
/// Among stacks the hue comes first, so that neighbouring numbers look as different as can be; the number of a category
/// is one more than its place.
pub fn fill(color: u32, by: ColorBy, theme: &Theme) -> Color {
    match by {
        ColorBy::Stack => stack_fill(color, theme),
        ColorBy::Category => theme.categories[(color as usize).saturating_sub(1) % theme.categories.len()],
    }
}

fn stack_fill(color: u32, theme: &Theme) -> Color {
    let hue = theme.hues[color as usize % theme.hues.len()];
    match color / theme.hues.len() as u32 % SHADES {
        0 => hue,
        1 => hue.mixed(theme.background, SHADE_STEP * 2.0),
        _ => hue.mixed(theme.live, SHADE_STEP),
    }
}

/// The fill of merged allocations most of which have this colour number.
pub fn merged_fill(color: u32, by: ColorBy, theme: &Theme) -> Color {
    fill(color, by, theme).mixed(theme.merged, MERGED_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn numbers_give_three_shades_of_every_hue() {
        for theme in [Theme::light(), Theme::dark()] {
            let all: HashSet<u32> = (0..1000).map(|number| fill(number, ColorBy::Stack, &theme).rgb).collect();
            assert_eq!(all.len(), theme.hues.len() * SHADES as usize);
        }
    }

    #[test]
    fn every_category_has_a_colour_of_its_own() {
        for theme in [Theme::light(), Theme::dark()] {
            let all: Vec<Color> = (1..=10).map(|number| fill(number, ColorBy::Category, &theme)).collect();
            assert_eq!(all, theme.categories);
        }
    }
}
