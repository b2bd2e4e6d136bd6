//! Decides the colour of a band by its colour number.
//!
//! The page's `raster` uses a palette of these colours.

use super::{color::Color, theme::Theme};

/// Property of allocations that the colours of a picture show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorBy {
    #[default]
    Stack,
    Category,
    /// Category, with all allocations of one in one area.
    AreaCategory,
    /// Module of the model, in areas.
    AreaModule,
    /// Function of the user's own code, in areas.
    AreaFunction,
}

// The names in addresses and options.
crate::names!(ColorBy {
    Stack => "stack",
    Category => "category",
    AreaCategory => "area",
    AreaModule => "area-module",
    AreaFunction => "area-function",
});

impl ColorBy {
    /// Returns true if the picture consists of a few areas instead of single allocations.
    pub fn is_area(self) -> bool {
        matches!(self, Self::AreaCategory | Self::AreaModule | Self::AreaFunction)
    }
}

/// Number of shades of each hue.
pub const SHADES: u32 = 3;

/// Share of another colour by which the shades of a hue differ.
pub const SHADE_STEP: f32 = 0.10;

/// Distance between the stripes on memory from before the trace, in CSS pixels.
pub const HATCH_PERIOD: f64 = 8.0;

/// Maximum height of a band without a separator, in device pixels: in a lower band, little else would be visible.
pub const SEPARATED: f64 = 5.0;

/// Share of grey in merged allocations, whose hue is that of most of them and not of all.
pub const MERGED_SHARE: f32 = 0.42;

/// Opacity of the lower edges of merged allocations, relative to those of single ones.
pub const MERGED_SEPARATOR_SHARE: f32 = 0.4;

/// Share of the highlight in the band under the cursor.
pub const HOVER_SHARE: f32 = 0.32;

/// Share of the accent in the pinned band.
pub const PIN_SHARE: f32 = 0.55;

/// Opacity of the area below the curve of the selected allocations.
pub const AREA_SHARE: f32 = 0.16;

/// Share of the background in all other bands while one is pinned.
pub const DIM_SHARE: f32 = 0.42;

/// Returns the fill of an allocation with this colour number.
///
/// For stacks, consecutive numbers differ in hue first, so that they look as different as possible; the number of a
/// category is one more than its position.
pub fn fill(color: u32, by: ColorBy, theme: &Theme) -> Color {
    match by {
        ColorBy::Stack => stack_fill(color, theme),
        ColorBy::Category => theme.categories[(color as usize).saturating_sub(1) % theme.categories.len()],
        ColorBy::AreaCategory | ColorBy::AreaModule | ColorBy::AreaFunction => {
            // What has no name is grey.
            theme.categories.get((color as usize).saturating_sub(1)).copied().unwrap_or(theme.merged)
        }
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

/// Number of greys of memory outside of the selected allocations.
pub const GREYS: u32 = 3;

/// Returns the fill of memory that is not among the selected allocations; neighbours with different numbers differ.
pub fn other_fill(color: u32, theme: &Theme) -> Color {
    let share = [0.42, 0.52, 0.62][(color % GREYS) as usize];
    theme.merged.mixed(theme.background, share)
}

/// Returns the fill of merged allocations, most of which have this colour number.
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
    fn what_is_beyond_the_named_areas_is_grey() {
        let theme = Theme::light();
        let fills = [1, 10, 11].map(|number| fill(number, ColorBy::AreaModule, &theme));
        assert_eq!(fills, [theme.categories[0], theme.categories[9], theme.merged]);
    }

    #[test]
    fn every_category_has_a_colour_of_its_own() {
        for theme in [Theme::light(), Theme::dark()] {
            let all: Vec<Color> = (1..=10).map(|number| fill(number, ColorBy::Category, &theme)).collect();
            assert_eq!(all, theme.categories);
        }
    }
}
