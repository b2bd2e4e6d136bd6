//! Draws the charts of a log for files.

use super::chart::{LOG_ROOM, log_chart, series_color};
use crate::base::format;
use crate::draw::op::{Align, Font, Op};
use crate::draw::rect::Rect;
use crate::draw::sketch::Sketch;
use crate::draw::theme::Theme;
use crate::report::{LogCurves, LogReport};

/// Size of a chart in files, in CSS pixels.
const CHART: (f64, f64) = (960.0, 260.0);

/// Draws all charts of a log below each other, each with what it shows as its heading.
pub fn log_picture(name: &str, report: &LogReport, theme: &Theme) -> Sketch {
    let charts: Vec<Sketch> = report.curves.iter().map(|curves| headed(curves, theme)).collect();
    Sketch::stacked(name, charts.iter(), theme)
}

fn headed(curves: &LogCurves, theme: &Theme) -> Sketch {
    let (names, chart) = (legend(curves), whole_chart(curves, theme));
    let heading = curves.span_text(curves.whole());
    let rows = names.iter().enumerate().map(|(row, (name, color))| key(row, name, *color, theme));
    let keys = Sketch { ops: rows.flatten().collect(), width: CHART.0, height: 8.0 + names.len() as f64 * KEY };
    Sketch::stacked(&heading, [&chart, &keys].into_iter(), theme)
}

/// Draws all times of the curves at the size of files.
pub(super) fn whole_chart(curves: &LogCurves, theme: &Theme) -> Sketch {
    let whole = curves.whole();
    Sketch { ops: log_chart(curves, whole, whole.0, CHART, theme).ops, width: CHART.0, height: CHART.1 }
}

/// Height of a row of the key in CSS pixels.
const KEY: f64 = 18.0;

/// Draws a row of the key: the colour of a series and its name.
fn key(row: usize, name: &str, series: Option<usize>, theme: &Theme) -> Vec<Op> {
    let top = row as f64 * KEY;
    let color = series.map_or(theme.oom, |position| series_color(position, theme));
    let name = Font::LABEL.fitted(name, CHART.0 - LOG_ROOM.left - 40.0);
    vec![
        Op::Fill { rect: Rect::new(LOG_ROOM.left, top + 3.0, 18.0, 10.0), radius: 0.0, color },
        Op::text((LOG_ROOM.left + 26.0, top + 8.0), name, Align::Left, Font::LABEL, theme.text),
    ]
}

/// Returns the names of the series with their positions, and that of the limit.
pub fn legend(curves: &LogCurves) -> Vec<(String, Option<usize>)> {
    let series = curves.series.iter().enumerate().map(|(position, series)| (series.name.clone(), Some(position)));
    let limit = curves.limit.iter().map(|limit| {
        let bytes = format::bytes(limit.bytes);
        (format!("{}, {bytes}", limit.name), None)
    });
    series.chain(limit).collect()
}
