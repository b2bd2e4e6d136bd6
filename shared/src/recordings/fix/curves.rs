//! Draws the live memory of each run above each other on one scale, with the card's limit as a line.

use crate::api::{FixFigures, FixReport};
use crate::base::format::bytes;
use crate::draw::chart::{Axis, Chart, Curve, Room, columns};
use crate::draw::op::{Align, Font, Op};
use crate::draw::sketch::Sketch;
use crate::draw::svg::svg_for_both;
use crate::draw::theme::Theme;

/// Width of the picture, in CSS pixels.
const WIDTH: f64 = 880.0;

/// Height of a run's row, with its label.
const ROW: f64 = 104.0;

const ROOM: Room = Room { left: 74.0, top: 24.0, right: 24.0, bottom: 12.0 };

/// Largest ratio of the card's memory to the highest peak at which its limit is drawn as a line.
///
/// A higher line would flatten the curves.
const FAR_ABOVE: u64 = 3;

/// Curves of all runs, as a drawing in any theme.
pub struct Curves<'a> {
    report: &'a FixReport,
    title: String,
}

/// Draws the curves, light or dark as the viewer's browser prefers.
pub fn svg(report: &FixReport) -> String {
    let curves = Curves::of(report);
    svg_for_both(&curves.title, &curves.sketch(&Theme::light()), &curves.sketch(&Theme::dark()))
}

impl<'a> Curves<'a> {
    pub fn of(report: &'a FixReport) -> Self {
        let name = if report.name.is_empty() { String::new() } else { format!("{} · ", report.name) };
        let limit = format!("{} has {}", report.card, bytes(report.capacity_bytes));
        Self { report, title: format!("{name}live memory with each remedy; {limit}") }
    }

    /// Draws the curves as an SVG document in one theme.
    pub fn svg(&self, theme: &Theme) -> String {
        crate::draw::svg::svg(&self.title, &self.sketch(theme))
    }

    fn sketch(&self, theme: &Theme) -> Sketch {
        let runs = self.runs();
        let highest = runs.iter().flat_map(|(_, run)| &run.curve).copied().max().unwrap_or(0);
        let limit = Some(self.report.capacity_bytes).filter(|limit| *limit <= highest.saturating_mul(FAR_ABOVE));
        let label = |index: usize| if index == 0 { self.report.card.as_str() } else { "" };
        let limited = |index| limit.map(|limit| (limit, label(index)));
        let rows = runs.iter().enumerate().map(|(index, (name, run))| row(name, run, highest, limited(index), theme));
        let rows: Vec<_> = rows.collect();
        Sketch::stacked(&self.title, rows.iter(), theme)
    }

    /// Returns the names and figures of the runs, the training as it is first and the smallest set last.
    fn runs(&self) -> Vec<(&'a str, &'a FixFigures)> {
        let FixReport { baseline, remedies, together, smallest_set, .. } = self.report;
        let several = together.as_ref().filter(|_| smallest_set.len() > 1);
        let named = remedies.iter().chain(several).map(|remedy| (remedy.name.as_str(), &remedy.figures));
        [("as it is", baseline)].into_iter().chain(named).collect()
    }
}

/// Draws a run: its label, its curve, and the limit with its name.
fn row(name: &str, run: &FixFigures, highest: u64, limit: Option<(u64, &str)>, theme: &Theme) -> Sketch {
    let line = Curve::area(columns(run.curve.iter().copied()), theme.live, 1.5, 0.18);
    let y = Axis::bytes(highest.max(limit.map_or(0, |(bytes, _)| bytes)));
    let chart = Chart { x: Axis::bare(), y, room: ROOM, font: Font::LABEL, curves: vec![line] };
    let mut plotted = chart.plotted((WIDTH, ROW), theme);
    if let Some((limit, label)) = limit {
        plotted.level(limit as f64, theme.oom);
        let (x, y) = plotted.at((0.0, limit as f64));
        let (text, halo) = (label.to_owned(), Some(theme.background));
        let (align, font, color) = (Align::Left, Font::LABEL, theme.oom);
        plotted.ops.push(Op::Text { x: x + 8.0, y: y + 9.0, text, align, font, color, halo });
    }
    let (fits, color) = if run.fits { ("fits", theme.ok) } else { ("does not fit", theme.oom) };
    let peaks = format!("{} live, {} reserved", bytes(run.peak_live_bytes), bytes(run.peak_reserved_bytes));
    let (y, right) = (ROOM.top / 2.0, WIDTH - ROOM.right);
    let fits_width = Font::LABEL.width(fits) + 12.0;
    plotted.ops.extend([
        Op::text((ROOM.left, y), name, Align::Left, Font::strong(13.0), theme.text),
        Op::text((right - fits_width, y), peaks, Align::Right, Font::LABEL, theme.text_muted),
        Op::text((right, y), fits, Align::Right, Font::LABEL, color),
    ]);
    Sketch { ops: plotted.ops, width: WIDTH, height: ROW }
}
