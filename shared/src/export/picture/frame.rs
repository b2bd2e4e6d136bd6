//! Draws everything around the plot of a timeline: axes, annotated spans, title and legend.

use super::drawing::{Anchor, Drawing, Ink, Place, Shape};
use super::options::PictureOptions;
use crate::analysis::{Axis, Span as Marked, Timeline};
use crate::base::{Moment, format};
use crate::draw::span::Span;
use crate::draw::ticks::{byte_ticks, count_ticks, time_ticks};
use crate::trace::{Action, Device, Trace};
use std::ops::Range;

/// Distance in pixels from the edges of the picture to its texts.
const MARGIN: f64 = 18.0;
/// Width left of the plot, for the labels of bytes.
const LEFT: f64 = 78.0;
/// Height below the plot, for the labels of events or times.
const BELOW: f64 = 34.0;
/// Height above the plot and the spans, for title and legend.
const ABOVE: f64 = 66.0;
/// Height of a row of spans with its gap.
const LANE_ROW: f64 = 17.0;
const LANE_ROWS: u32 = 3;
/// Maximum number of spans to draw.
const MOST_SPANS: usize = 2000;

const LABEL: f64 = 12.0;
const TITLE: f64 = 15.0;
/// Average width of a letter as a fraction of the font size; the font of the reader is unknown.
const LETTER: f64 = 0.56;

/// Upper end of the byte axis as a multiple of the highest bytes.
const HEADROOM: f64 = 1.05;

/// Position and content of the plot.
pub(super) struct Frame<'a> {
    pub(super) device: &'a Device,
    pub(super) timeline: &'a Timeline,
    pub(super) axis: Axis,
    /// Shown range of the axis.
    pub(super) x: Span,
    /// Shown range of bytes.
    pub(super) y: Span,
    /// First and last shown moment.
    pub(super) moments: (u32, u32),
    pub(super) across: Span,
    pub(super) down: Span,
    title: &'a str,
    size: Place,
}

impl<'a> Frame<'a> {
    pub(super) fn new(
        device: &'a Device,
        timeline: &'a Timeline,
        options: &'a PictureOptions,
        spans: &[Marked],
        size: Place,
    ) -> Self {
        let axis = timeline.effective_axis(options.axis);
        let whole = Span::new(0.0, timeline.x_end(axis));
        let least = whole.len().min(1.0);
        let x = options.x.unwrap_or(whole).confined(whole, least);
        let moment = |x| timeline.moment_at_x(device, axis, x);
        let moments = (moment(x.start), moment(x.end));
        let shown = moments.0..moments.1.saturating_add(1);
        let most_bytes = timeline.live_max_in(shown.clone()).1.max(timeline.reserved_max_in(shown).1);
        let rows = spans.iter().map(|span| span.depth + 1).max().unwrap_or(0).min(LANE_ROWS);
        Self {
            device,
            timeline,
            axis,
            x,
            y: Span::new(0.0, most_bytes.max(1024) as f64 * HEADROOM),
            moments,
            across: Span::new(LEFT, size.0 - MARGIN),
            down: Span::new(ABOVE + f64::from(rows) * LANE_ROW, size.1 - BELOW),
            title: &options.title,
            size,
        }
    }

    /// Converts a value of the axis to pixels.
    pub(super) fn px(&self, x: f64) -> f64 {
        self.across.at(self.x.fraction(x))
    }

    /// Converts bytes to pixels.
    pub(super) fn py(&self, bytes: f64) -> f64 {
        self.down.end - self.y.fraction(bytes) * self.down.len()
    }

    /// Returns the middle of a moment in pixels.
    pub(super) fn px_of_moment(&self, moment: u32) -> f64 {
        let x = |moment| self.timeline.x_of_moment(self.device, self.axis, moment);
        self.px(f64::midpoint(x(moment), x(moment.saturating_add(1))))
    }

    /// Returns the shown moments.
    pub(super) fn shown(&self) -> Range<u32> {
        self.moments.0..self.moments.1.saturating_add(1)
    }

    /// Returns the moments of the shown out-of-memory events.
    pub(super) fn ooms(&self) -> impl Iterator<Item = u32> + '_ {
        let (first, last) = (self.moments.0.saturating_sub(1), self.moments.1);
        let actions = self.device.events.actions();
        (first..last).filter(|&event| actions.at(event as usize) == Action::Oom).map(|event| event + 1)
    }

    pub(super) fn background(&self, drawing: &mut Drawing) {
        let (width, height) = self.size;
        drawing.shapes.push(Shape::Boxes { ink: Ink::Background, boxes: vec![[0.0, 0.0, width, height]] });
        for tick in byte_ticks(self.y, self.y.len() * 52.0 / self.down.len()) {
            let y = self.py(tick.value);
            line(drawing, Ink::Grid, 1.0, &[(self.across.start, y), (self.across.end, y)]);
        }
    }

    /// Draws the labels on the left and at the bottom.
    pub(super) fn axes(&self, drawing: &mut Drawing) {
        for tick in byte_ticks(self.y, self.y.len() * 52.0 / self.down.len()) {
            let at = (self.across.start - 8.0, self.py(tick.value) + 4.0);
            text(drawing, Ink::Muted, at, Anchor::End, &tick.label);
        }
        let step = self.x.len() * 110.0 / self.across.len();
        let ticks = match self.axis {
            Axis::Events => count_ticks(self.x, step),
            Axis::Time => time_ticks(self.x, step),
        };
        let bottom = self.down.end;
        line(drawing, Ink::Muted, 1.0, &[(self.across.start, bottom), (self.across.end, bottom)]);
        let name = match self.axis {
            Axis::Events => "events",
            Axis::Time => "since the first event",
        };
        let free = self.across.end - width_of(name, LABEL) - 12.0;
        for tick in ticks {
            let x = self.px(tick.value);
            line(drawing, Ink::Muted, 1.0, &[(x, bottom), (x, bottom + 4.0)]);
            if x + width_of(&tick.label, LABEL) / 2.0 < free {
                text(drawing, Ink::Muted, (x, bottom + 18.0), Anchor::Middle, &tick.label);
            }
        }
        text(drawing, Ink::Muted, (self.across.end, bottom + 18.0), Anchor::End, name);
    }

    /// Draws the annotated spans, one row for each depth.
    pub(super) fn lanes(&self, trace: &Trace, spans: &[Marked], drawing: &mut Drawing) {
        let place = |span: &Marked| match self.axis {
            Axis::Time => Span::new(span.start_us as f64, span.end_us as f64),
            Axis::Events => Span::new(f64::from(span.start_moment), f64::from(span.end_moment)),
        };
        let shown = spans.iter().filter(|span| span.depth < LANE_ROWS).filter_map(|span| {
            let part = place(span).intersection(self.x);
            let (left, right) = (self.px(part.start), self.px(part.end));
            (right - left >= 1.0).then_some((span, left, right))
        });
        for (span, left, right) in shown.take(MOST_SPANS) {
            let top = ABOVE + f64::from(span.depth) * LANE_ROW;
            let boxes = vec![[left, top, right - left - 0.5, LANE_ROW - 3.0]];
            drawing.shapes.push(Shape::Boxes { ink: Ink::Span(span.depth), boxes });
            let words = fitting(trace.strings.get(span.name), right - left - 10.0, 11.0);
            if !words.is_empty() {
                let at = (left + 5.0, top + 11.0);
                let (ink, anchor) = (Ink::SpanText, Anchor::Start);
                drawing.shapes.push(Shape::Text { ink, at, anchor, size: 11.0, is_strong: false, words });
            }
        }
    }

    /// Draws the title, the peaks and the legend.
    pub(super) fn head(&self, drawing: &mut Drawing) {
        let figures = self.figures();
        let room = self.size.0 - 2.0 * MARGIN - width_of(&figures, LABEL) - 24.0;
        let words = fitting(self.title, room, TITLE);
        let (ink, at, anchor) = (Ink::Text, (MARGIN, 26.0), Anchor::Start);
        drawing.shapes.push(Shape::Text { ink, at, anchor, size: TITLE, is_strong: true, words });
        text(drawing, Ink::Muted, (self.size.0 - MARGIN, 26.0), Anchor::End, &figures);
        self.legend(drawing);
    }

    fn figures(&self) -> String {
        let (moment, live_bytes) = self.timeline.live_max_in(self.shown());
        let when = Moment(moment);
        let reserved = format::bytes(self.timeline.reserved_max_in(self.shown()).1);
        format!("peak live {} {when} · peak reserved {reserved}", format::bytes(live_bytes))
    }

    fn legend(&self, drawing: &mut Drawing) {
        let y = 46.0;
        let mut left = MARGIN;
        let right = self.size.0 - MARGIN;
        let mut entry = |drawing: &mut Drawing, words: &str, swatch: &dyn Fn(&mut Drawing, f64)| {
            let end = left + 24.0 + width_of(words, LABEL);
            if end <= right {
                swatch(drawing, left);
                text(drawing, Ink::Muted, (left + 24.0, y + 4.0), Anchor::Start, words);
            }
            left = end + 18.0;
        };
        let stroke =
            |ink| move |drawing: &mut Drawing, left: f64| line(drawing, ink, 2.0, &[(left, y), (left + 18.0, y)]);
        let fill = |inks: [Ink; 3]| {
            move |drawing: &mut Drawing, left: f64| {
                for (row, ink) in inks.into_iter().enumerate() {
                    let boxes = vec![[left, y - 5.0 + row as f64 * 10.0 / 3.0, 18.0, 10.0 / 3.0]];
                    drawing.shapes.push(Shape::Boxes { ink, boxes });
                }
            }
        };
        entry(drawing, "live", &stroke(Ink::Live));
        entry(drawing, "reserved", &stroke(Ink::Reserved));
        entry(drawing, "peak", &|drawing, left| {
            drawing.shapes.push(Shape::Dot { ink: Ink::Peak, at: (left + 9.0, y), radius: 4.0 });
        });
        entry(drawing, "merged small allocations", &fill([Ink::Merged(0), Ink::Merged(1), Ink::Merged(2)]));
        if self.timeline.live_at(0) > 0 {
            entry(drawing, "from before the trace", &fill([Ink::Initial; 3]));
        }
        if self.ooms().next().is_some() {
            entry(drawing, "out of memory", &|drawing, left| {
                line(drawing, Ink::Oom, 2.0, &[(left + 9.0, y - 6.0), (left + 9.0, y + 6.0)]);
            });
        }
    }
}

pub(super) fn line(drawing: &mut Drawing, ink: Ink, width: f64, places: &[Place]) {
    drawing.shapes.push(Shape::Line { ink, width, places: places.to_vec() });
}

fn text(drawing: &mut Drawing, ink: Ink, at: Place, anchor: Anchor, words: &str) {
    let words = words.to_owned();
    drawing.shapes.push(Shape::Text { ink, at, anchor, size: LABEL, is_strong: false, words });
}

pub(super) fn width_of(words: &str, size: f64) -> f64 {
    words.chars().count() as f64 * size * LETTER
}

/// Truncates a text to the available width; returns an empty text if only three letters or fewer would fit.
pub(super) fn fitting(words: &str, room: f64, size: f64) -> String {
    const LEAST_LETTERS: usize = 3;
    if width_of(words, size) <= room {
        return words.to_owned();
    }
    let letters = (room / (size * LETTER)) as usize;
    if letters <= LEAST_LETTERS {
        return String::new();
    }
    words.chars().take(letters - 1).chain(['…']).collect()
}
