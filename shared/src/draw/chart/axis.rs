//! Axes of charts, with labels at round values.

use crate::draw::op::Font;
use crate::draw::span::Span;
use crate::draw::ticks::{Tick, byte_ticks};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// Minimum distance of two labels of bytes, as a multiple of their height.
const BETWEEN_BYTES: f64 = 3.1;

/// Axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Shown values, from the left or the bottom.
    pub range: Span,
    pub labels: Labels,
}

/// Labels of an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    None,
    /// Round numbers of bytes.
    Bytes,
    /// The given labels, without those that would overlap an earlier one or the end of the axis.
    Given(Vec<Tick>),
}

impl Axis {
    /// Creates an axis from 0 to 1 without labels.
    pub fn bare() -> Self {
        Self { range: Span::new(0.0, 1.0), labels: Labels::None }
    }

    /// Creates a labelled axis from 0 to slightly above a number of bytes.
    pub fn bytes(highest: u64) -> Self {
        Self { range: Span::new(0.0, (highest as f64 * 1.06).max(1.0)), labels: Labels::Bytes }
    }

    /// Returns the axis for a length in CSS pixels.
    pub(super) fn scale(&self, length: f64, font: Font) -> Scale {
        let ticks = match &self.labels {
            Labels::None => Vec::new(),
            Labels::Bytes => byte_ticks(self.range, self.range.len() * BETWEEN_BYTES * font.size / length),
            Labels::Given(ticks) => self.fitting(ticks, length, font),
        };
        Scale { range: self.range, ticks }
    }

    /// Returns the labels that fit next to each other, the first ones first.
    fn fitting(&self, ticks: &[Tick], length: f64, font: Font) -> Vec<Tick> {
        let mut end = f64::NEG_INFINITY;
        let mut fitting = Vec::new();
        for tick in ticks {
            let (middle, half) = (self.range.fraction(tick.value) * length, font.width(&tick.label) / 2.0);
            if middle - half > end && middle + half <= length + font.size {
                end = middle + half + font.size;
                fitting.push(tick.clone());
            }
        }
        fitting
    }
}

/// Axis as plotters uses it.
pub(super) struct Scale {
    range: Span,
    ticks: Vec<Tick>,
}

impl Ranged for Scale {
    type ValueType = f64;
    type FormatOption = NoDefaultFormatting;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        let share = if self.range.is_empty() { 0.5 } else { self.range.fraction(*value) };
        start + (share * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // plotters also asks for points between the labels.
        let is_between = hint.weight().allow_light_points();
        if is_between { Vec::new() } else { self.ticks.iter().map(|tick| tick.value).collect() }
    }

    fn range(&self) -> Range<f64> {
        self.range.start..self.range.end
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        self.ticks.iter().find(|tick| tick.value == *value).map_or_else(String::new, |tick| tick.label.clone())
    }
}
