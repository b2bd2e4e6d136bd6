//! Defines the colours of the timeline, light and dark.

use super::color::Color;

/// Number of hues of bands.
pub const HUES: usize = 12;

/// Number of categories of allocations, each of which has a colour.
pub const CATEGORIES: usize = 10;

/// Number of phases of a step, each of which has a colour.
pub const PHASES: usize = 8;

/// Colours of the timeline.
///
/// The hues lie evenly around the OKLCH circle, and neighbours also differ in lightness, which helps people who can't
/// distinguish the hues.
/// These people can also distinguish the colours of categories, whose contrast with the background is at least 3:1,
/// because a legend names them.
/// Red at full strength is kept for out-of-memory events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Theme {
    pub background: Color,
    /// Lines of the ticks.
    pub grid: Color,
    /// Labels of axes.
    pub text: Color,
    /// Less important labels.
    pub text_muted: Color,
    /// Bands of single allocations.
    pub hues: [Color; HUES],
    /// Bands of single allocations by category, in the order of `shared::analysis::Category::ALL`.
    pub categories: [Color; CATEGORIES],
    /// Memory from before the trace.
    pub initial: Color,
    /// Stripes on memory from before the trace.
    pub initial_hatch: Color,
    /// Grey that is mixed into the hues of merged allocations.
    pub merged: Color,
    /// Lines between neighbouring bands.
    pub separator: Color,
    /// Curve of the live bytes.
    pub live: Color,
    /// Curve of the reserved bytes.
    pub reserved: Color,
    /// Highlight of the band under the cursor.
    pub hover: Color,
    /// Pinned band, its outline and the selection.
    pub accent: Color,
    pub peak: Color,
    pub oom: Color,
    /// Marks of something that went well.
    pub ok: Color,
    pub crosshair: Color,
    /// Annotated spans, by depth.
    pub spans: [Color; 3],
    /// Steps that no annotation names.
    pub step: Color,
    /// Outline of those steps.
    pub step_edge: Color,
    /// Phases, in the order of the page's names of phases.
    pub phases: [Color; PHASES],
    /// Neighbouring phases that are too short to be drawn apart.
    pub mixed: Color,
    pub span_text: Color,
}

impl Theme {
    /// Returns the colours on white.
    pub const fn light() -> Self {
        Self {
            background: Color::new(0xffffff),
            grid: Color::new(0x1c2430).with_alpha(0.10),
            text: Color::new(0x3d4757),
            text_muted: Color::new(0x5b6678),
            hues: colors([
                0x689bdb, 0xf4a579, 0x53ad81, 0xc5aaf7, 0xb3953f, 0x64ccde, 0xcb7ba2, 0xa3c97d, 0xd47c76, 0xa6b5ff,
                0x40aca0, 0xe8ae69,
            ]),
            categories: colors([
                0x1f6edf, 0xa23801, 0x52339b, 0x308b5e, 0x019ecd, 0xe75c9c, 0x632a01, 0x03464a, 0x9a9810, 0x5c6067,
            ]),
            initial: Color::new(0xd5dae2),
            initial_hatch: Color::new(0xb4bdca),
            merged: Color::new(0xc4c8cf),
            separator: Color::new(0x101828).with_alpha(0.34),
            live: Color::new(0x1b3a7a),
            reserved: Color::new(0xa85708),
            hover: Color::new(0xffffff),
            accent: Color::new(0x1f5fd6),
            peak: Color::new(0x7a1fd1),
            oom: Color::new(0xd3121f),
            ok: Color::new(0x177545),
            crosshair: Color::new(0x1c2430).with_alpha(0.45),
            spans: [Color::new(0xd7e3fb), Color::new(0xe4dcfa), Color::new(0xd8efe4)],
            step: Color::new(0xf4f7fc),
            step_edge: Color::new(0xa9b6cc),
            phases: colors([0xdadee5, 0xb8e9eb, 0xc6e1ff, 0xfdd5b7, 0xeadfaa, 0xe3d7fb, 0xc5e9cb, 0xf9d1e3]),
            mixed: Color::new(0xdfe3e8),
            span_text: Color::new(0x26314a),
        }
    }

    /// Returns the colours on near black.
    pub const fn dark() -> Self {
        Self {
            background: Color::new(0x14181f),
            grid: Color::new(0xdfe7f5).with_alpha(0.11),
            text: Color::new(0xc3cbd8),
            text_muted: Color::new(0x98a3b4),
            hues: colors([
                0x4876b1, 0xd0875e, 0x2f875f, 0xa58cd3, 0x8c711a, 0x48abbc, 0xa2597d, 0x86a861, 0xa95a55, 0x8896dc,
                0x14867c, 0xc58f4e,
            ]),
            categories: colors([
                0x1daafe, 0xf19e03, 0x8545c2, 0x4e9759, 0x3edffe, 0xfeafbf, 0x985400, 0x187075, 0xdae255, 0x989ca4,
            ]),
            initial: Color::new(0x333b48),
            initial_hatch: Color::new(0x4a5465),
            merged: Color::new(0x4c535e),
            separator: Color::new(0x05070a).with_alpha(0.55),
            live: Color::new(0xb4cdff),
            reserved: Color::new(0xf0a75a),
            hover: Color::new(0xffffff),
            accent: Color::new(0x7aa7ff),
            peak: Color::new(0xd3a4ff),
            oom: Color::new(0xff5c62),
            ok: Color::new(0x62cf95),
            crosshair: Color::new(0xe7ecf5).with_alpha(0.5),
            spans: [Color::new(0x243352), Color::new(0x35294f), Color::new(0x1d3d31)],
            step: Color::new(0x1a202a),
            step_edge: Color::new(0x4b5a73),
            phases: colors([0x3c4047, 0x01494d, 0x214263, 0x5c3510, 0x4a4002, 0x45385c, 0x224a2c, 0x583144]),
            mixed: Color::new(0x363c46),
            span_text: Color::new(0xdbe4f5),
        }
    }
}

const fn colors<const COUNT: usize>(rgb: [u32; COUNT]) -> [Color; COUNT] {
    let mut colors = [Color::new(0); COUNT];
    let mut i = 0;
    while i < COUNT {
        colors[i] = Color::new(rgb[i]);
        i += 1;
    }
    colors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_themes_are_readable() {
        [Theme::light(), Theme::dark()].into_iter().for_each(check);
    }

    #[track_caller]
    fn check(theme: Theme) {
        let Theme { background, text, text_muted, live, reserved, accent, peak, oom, hues, .. } = theme;
        for (name, color) in [("text", text), ("muted", text_muted), ("peak", peak), ("oom", oom)] {
            assert!(color.contrast(background) >= 4.5, "{name} is text: {}", color.contrast(background));
        }
        for (name, color) in [("live", live), ("reserved", reserved), ("accent", accent)] {
            assert!(color.contrast(background) >= 3.0, "{name} is a line: {}", color.contrast(background));
        }
        let spans = theme.spans.iter().chain(&theme.phases).chain([&theme.step, &theme.mixed]);
        assert!(spans.into_iter().all(|span| theme.span_text.contrast(*span) >= 4.5), "text on spans");
        for (place, category) in theme.categories.iter().enumerate() {
            assert!(category.contrast(background) >= 3.0, "{place}: {}", category.contrast(background));
        }
        for pair in hues.windows(2) {
            assert!(pair[0].contrast(pair[1]) >= 1.15, "neighbouring hues differ in lightness");
        }
        assert!(hues.iter().all(|hue| hue.contrast(background) >= 1.4), "bands stand out");
    }
}
