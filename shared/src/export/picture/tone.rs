//! Names the colours of memory before there is a theme.

use crate::analysis::{Band, BandOwner};
use crate::draw::segment_parts::Part;
use crate::draw::shade::{self, ColorBy};
use crate::draw::{Color, Op, Rect, Theme};
use std::collections::BTreeMap;

/// Number of different colours of bands; higher colour numbers repeat them.
const COLORS: u32 = crate::draw::theme::HUES as u32 * shade::SHADES;

/// Meaning of a filled rectangle, the lowest one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tone {
    /// Free memory of a segment.
    Free,
    /// Memory from before the trace.
    Initial,
    /// Merged allocations, by their colour number.
    Merged(u32),
    /// Single allocation, by its colour number.
    Single(u32),
    /// Small, lost or remaining memory.
    Rest,
    /// Memory that another stream still uses.
    Pending,
    /// Lower edges of allocations.
    Separator,
    /// Outline of a segment.
    Rim,
    /// Unmapped addresses between segments.
    Hole,
}

impl Tone {
    pub(super) fn of(band: &Band) -> Self {
        match band.owner {
            BandOwner::Allocation(_) | BandOwner::Area => Self::of_number(band.color, false),
            BandOwner::Merged => Self::of_number(band.color, true),
            BandOwner::Initial => Self::Initial,
        }
    }

    /// Returns the tone of one or of several merged allocations with a colour number.
    pub(super) fn of_number(color: u32, is_merged: bool) -> Self {
        if is_merged { Self::Merged(color % COLORS) } else { Self::Single(color % COLORS) }
    }

    pub(super) fn color(self, theme: &Theme) -> Color {
        let part = |part: Part| part.color(theme.initial, theme);
        match self {
            Self::Free => part(Part::Ground),
            Self::Initial => theme.initial,
            Self::Merged(number) => shade::merged_fill(number, ColorBy::Stack, theme),
            Self::Single(number) => shade::fill(number, ColorBy::Stack, theme),
            Self::Rest => theme.merged,
            Self::Pending => part(Part::Pending),
            Self::Separator => theme.separator,
            Self::Rim => part(Part::Edge),
            Self::Hole => part(Part::Hole),
        }
    }

    /// Returns three tones for the legend, because allocations have many.
    pub(super) fn samples(is_merged: bool, theme: &Theme) -> Vec<Color> {
        (0..3).map(|number| Self::of_number(number, is_merged).color(theme)).collect()
    }
}

/// Rectangles by their tones, so that each colour takes one operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layers(BTreeMap<Tone, Vec<Rect>>);

impl Layers {
    pub(super) fn add(&mut self, tone: Tone, rect: Rect) {
        self.0.entry(tone).or_default().push(rect);
    }

    pub(super) fn ops(&self, theme: &Theme) -> impl Iterator<Item = Op> {
        self.0.iter().map(|(tone, boxes)| Op::Boxes { boxes: boxes.clone(), color: tone.color(theme) })
    }
}
