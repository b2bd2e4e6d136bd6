//! Draws what is around a plot (axes, annotated spans, title, figures, legend), and defines pictures' content and size.

use super::tone::Tone;
use crate::analysis::{Axis, Span as Marked, Timeline, spans};
use crate::base::{Moment, format};
use crate::draw::ticks::{Tick, byte_ticks, count_ticks, time_ticks};
use crate::draw::{Align, Color, Font, Op, Point, Rect, Sketch, Span, Theme};
use crate::trace::{Action, Device, Trace};
use std::ops::Range;

/// Width left of the plot, for the labels of bytes.
const LEFT: f64 = 78.0;
/// Height below the plot, for the labels of events or times.
const BELOW: f64 = 34.0;
/// Height above the plot and the spans, for title and legend.
const PLOT_TOP: f64 = 66.0;
/// Height of a row of spans with its gap.
const LANE_ROW: f64 = 17.0;
const LANE_ROWS: u32 = 3;
/// Maximum number of spans to draw.
const MOST_SPANS: usize = 2000;

/// Middle of the legend in pixels.
const LEGEND: f64 = 46.0;

/// Upper end of the byte axis as a multiple of the highest bytes.
const HEADROOM: f64 = 1.05;

/// Position and content of the plot.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    trace: &'a Trace,
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
    spans: Vec<Marked>,
    /// Width and height of the picture.
    pub(super) size: (f64, f64),
}

impl<'a> Frame<'a> {
    pub(super) fn new(
        trace: &'a Trace,
        (device, timeline): (&'a Device, &'a Timeline),
        options: &'a PictureOptions,
        size: (f64, f64),
    ) -> Self {
        let spans = spans(trace, device);
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
            trace,
            device,
            timeline,
            axis,
            x,
            y: Span::new(0.0, most_bytes.max(1024) as f64 * HEADROOM),
            moments,
            across: Span::new(LEFT, size.0 - MARGIN),
            down: Span::new(PLOT_TOP + f64::from(rows) * LANE_ROW, size.1 - BELOW),
            title: &options.title,
            spans,
            size,
        }
    }

    /// Converts a value of the axis to pixels.
    pub(super) fn px(&self, x: f64) -> f64 {
        self.across.at(self.x.fraction(x))
    }

    pub(super) fn py(&self, bytes: f64) -> f64 {
        self.down.end - self.y.fraction(bytes) * self.down.len()
    }

    /// Returns the middle of a moment in pixels, within the plot.
    pub(super) fn place_of_moment(&self, moment: u32) -> f64 {
        let x = |moment| self.timeline.x_of_moment(self.device, self.axis, moment);
        self.px(f64::midpoint(x(moment), x(moment.saturating_add(1)))).clamp(self.across.start, self.across.end)
    }

    pub(super) fn shown(&self) -> Range<u32> {
        self.moments.0..self.moments.1.saturating_add(1)
    }

    /// Returns the moments of the shown out-of-memory events.
    pub(super) fn ooms(&self) -> impl Iterator<Item = u32> + '_ {
        let (first, last) = (self.moments.0.saturating_sub(1), self.moments.1);
        let actions = self.device.events.actions();
        (first..last).filter(|&event| actions.at(event as usize) == Action::Oom).map(|event| event + 1)
    }

    fn byte_ticks(&self) -> Vec<Tick> {
        byte_ticks(self.y, self.y.len() * 52.0 / self.down.len())
    }

    pub(super) fn grid(&self, theme: &Theme, ops: &mut Vec<Op>) {
        for tick in self.byte_ticks() {
            let y = self.py(tick.value);
            ops.push(Op::line([(self.across.start, y), (self.across.end, y)], 1.0, theme.grid));
        }
    }

    /// Draws the labels on the left and at the bottom.
    pub(super) fn axes(&self, theme: &Theme, ops: &mut Vec<Op>) {
        for tick in self.byte_ticks() {
            let at = (self.across.start - 8.0, self.py(tick.value) + 4.0);
            ops.push(label(at, &tick.label, Align::Right, theme));
        }
        let step = self.x.len() * 110.0 / self.across.len();
        let (ticks, name) = match self.axis {
            Axis::Events => (count_ticks(self.x, step), "events"),
            Axis::Time => (time_ticks(self.x, step), "since the first event"),
        };
        let bottom = self.down.end;
        ops.push(Op::line([(self.across.start, bottom), (self.across.end, bottom)], 1.0, theme.text_muted));
        let free = self.across.end - LABEL.width(name) - 12.0;
        for tick in ticks {
            let x = self.px(tick.value);
            ops.push(Op::line([(x, bottom), (x, bottom + 4.0)], 1.0, theme.text_muted));
            if x + LABEL.width(&tick.label) / 2.0 < free {
                ops.push(label((x, bottom + 18.0), &tick.label, Align::Center, theme));
            }
        }
        ops.push(label((self.across.end, bottom + 18.0), name, Align::Right, theme));
    }

    /// Draws the annotated spans, one row for each depth.
    pub(super) fn lanes(&self, theme: &Theme, ops: &mut Vec<Op>) {
        const NAME: Font = Font::plain(11.0);
        let place = |span: &Marked| match self.axis {
            Axis::Time => Span::new(span.start_us as f64, span.end_us as f64),
            Axis::Events => Span::new(f64::from(span.start_moment), f64::from(span.end_moment)),
        };
        let shown = self.spans.iter().filter(|span| span.depth < LANE_ROWS).filter_map(|span| {
            let part = place(span).intersection(self.x);
            let (left, right) = (self.px(part.start), self.px(part.end));
            (right - left >= 1.0).then_some((span, left, right))
        });
        for (span, left, right) in shown.take(MOST_SPANS) {
            let top = PLOT_TOP + f64::from(span.depth) * LANE_ROW;
            let boxes = vec![Rect::new(left, top, right - left - 0.5, LANE_ROW - 3.0)];
            let color = theme.spans[span.depth as usize % theme.spans.len()];
            ops.push(Op::Boxes { boxes, color });
            let name = NAME.fitted(self.trace.strings.get(span.name), right - left - 10.0);
            if !name.is_empty() {
                ops.push(words((left + 5.0, top + 11.0), &name, Align::Left, NAME, theme.span_text));
            }
        }
    }

    /// Draws the title, the peaks and the legend.
    pub(super) fn head(&self, theme: &Theme, ops: &mut Vec<Op>) {
        let figures = self.figures();
        let room = self.size.0 - 2.0 * MARGIN - LABEL.width(&figures) - 24.0;
        let title = TITLE.fitted(self.title, room);
        ops.push(words((MARGIN, TITLE_LINE), &title, Align::Left, TITLE, theme.text));
        ops.push(label((self.size.0 - MARGIN, TITLE_LINE), &figures, Align::Right, theme));
        legend(&self.entries(theme), LEGEND, self.size.0, theme, ops);
    }

    fn figures(&self) -> String {
        let (moment, live_bytes) = self.timeline.live_max_in(self.shown());
        let when = Moment(moment);
        let reserved = format::bytes(self.timeline.reserved_max_in(self.shown()).1);
        format!("peak live {} {when} · peak reserved {reserved}", format::bytes(live_bytes))
    }

    fn entries(&self, theme: &Theme) -> Vec<(&'static str, Swatch)> {
        let mut entries = vec![
            ("live", Swatch::Line(theme.live)),
            ("reserved", Swatch::Line(theme.reserved)),
            ("peak", Swatch::Dot(theme.peak)),
            ("small allocations, merged", Swatch::Stripes(Tone::samples(true, theme))),
        ];
        if self.timeline.live_at(0) > 0 {
            entries.push(("allocated before recording", Swatch::Stripes(vec![theme.initial])));
        }
        if self.ooms().next().is_some() {
            entries.push(("out of memory", Swatch::Upright(theme.oom)));
        }
        entries
    }
}

/// Content and size of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureOptions {
    pub title: String,
    /// Unit of the x axis; a trace without times is drawn by events.
    pub axis: Axis,
    /// Part of the axis to show; `None` for all of it.
    pub x: Option<Span>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Desired maximum number of bands; if there are more, neighbours are merged to keep files small.
    pub most_bands: usize,
}

impl Default for PictureOptions {
    fn default() -> Self {
        Self { title: String::new(), axis: Axis::Events, x: None, width: 1200, height: 600, most_bands: 20_000 }
    }
}

/// Content and size of a picture of one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct MomentOptions {
    pub title: String,
    /// Moment to show, where `n` is the state after event `n - 1`; `None` for the peak.
    pub moment: Option<u32>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels; `None` for as much as the content needs.
    pub height: Option<u32>,
}

impl Default for MomentOptions {
    fn default() -> Self {
        Self { title: String::new(), moment: None, width: 1200, height: None }
    }
}

/// Distance in pixels from the edges of the picture to its content.
pub(super) const MARGIN: f64 = 18.0;

/// Height of everything above the plot of a moment, in pixels.
pub(super) const ABOVE: f64 = 82.0;

/// Baseline of the title, in pixels.
const TITLE_LINE: f64 = 26.0;

pub(super) const LABEL: Font = Font::plain(12.0);
pub(super) const TITLE: Font = Font::strong(15.0);

/// Mark beside an entry of a legend.
pub(super) enum Swatch {
    None,
    Line(Color),
    Upright(Color),
    Dot(Color),
    /// Stripes below each other.
    Stripes(Vec<Color>),
}

/// Draws the background, title, figures and legend of a picture of one moment.
pub(super) fn heading(
    size: (u32, u32),
    (title, figures): (&str, &str),
    entries: &[(&str, Swatch)],
    theme: &Theme,
) -> Sketch {
    let mut sketch = Sketch::blank(f64::from(size.0), f64::from(size.1), theme);
    let room = sketch.width - 2.0 * MARGIN;
    let title = TITLE.fitted(title, room);
    sketch.ops.push(words((MARGIN, TITLE_LINE), &title, Align::Left, TITLE, theme.text));
    sketch.ops.push(label((MARGIN, 48.0), &LABEL.fitted(figures, room), Align::Left, theme));
    legend(entries, 65.0, sketch.width, theme, &mut sketch.ops);
    sketch
}

/// Draws the entries of a legend around a height, as many as fit.
pub(super) fn legend(entries: &[(&str, Swatch)], middle: f64, width: f64, theme: &Theme, ops: &mut Vec<Op>) {
    let mut left = MARGIN;
    for (text, swatch) in entries {
        let at = left + if matches!(swatch, Swatch::None) { 0.0 } else { Swatch::WIDTH + 6.0 };
        let end = at + LABEL.width(text);
        if end > width - MARGIN {
            break;
        }
        swatch.draw((left, middle), theme, ops);
        ops.push(label((at, middle + 4.0), text, Align::Left, theme));
        left = end + 18.0;
    }
}

impl Swatch {
    const WIDTH: f64 = 18.0;
    const HEIGHT: f64 = 10.0;

    /// Draws the mark at its left end and vertical centre.
    fn draw(&self, (left, middle): Point, theme: &Theme, ops: &mut Vec<Op>) {
        let center = left + Self::WIDTH / 2.0;
        match self {
            Self::None => (),
            Self::Line(color) => ops.push(Op::line([(left, middle), (left + Self::WIDTH, middle)], 2.0, *color)),
            Self::Upright(color) => ops.push(Op::line([(center, middle - 6.0), (center, middle + 6.0)], 2.0, *color)),
            Self::Dot(color) => ops.push(dot((center, middle), *color, theme)),
            Self::Stripes(colors) => {
                let (top, height) = (middle - Self::HEIGHT / 2.0, Self::HEIGHT / colors.len() as f64);
                ops.extend(colors.iter().enumerate().map(|(row, &color)| {
                    let rect = Rect::new(left, top + row as f64 * height, Self::WIDTH, height);
                    Op::Boxes { boxes: vec![rect], color }
                }));
            }
        }
    }
}

pub(super) fn dot(at: Point, color: Color, theme: &Theme) -> Op {
    Op::Dot { at, radius: 3.25, color, ring: theme.background }
}

/// Draws a less important text on a baseline.
pub(super) fn label(at: Point, text: &str, align: Align, theme: &Theme) -> Op {
    words(at, text, align, LABEL, theme.text_muted)
}

pub(super) fn words((x, baseline): Point, text: &str, align: Align, font: Font, color: Color) -> Op {
    Op::text((x, baseline - font.baseline()), text, align, font, color)
}
