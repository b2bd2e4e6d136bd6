//! Saves the report on a log: as a page for a ticket, as a picture, as Markdown, and as tables for programs.
//!
//! Invariant: a saved log says what the page and the terminal say, since all of them have the same report.

mod chart;
mod page;
mod text;

pub use chart::{LOG_ROOM, log_chart, series_color};
use page::log_page;
use text::{log_csv, log_json, log_markdown};

use crate::draw::sketch::Sketch;
use crate::draw::theme::Theme;
use crate::report::{LogCurves, LogReport};

/// Size of a chart in files, in CSS pixels.
const CHART: (f64, f64) = (960.0, 260.0);

/// Form in which a log is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogForm {
    /// One page for a ticket, with the charts.
    Html,
    /// The charts as a vector picture.
    Svg,
    /// The charts as a bitmap.
    Png,
    /// The curves: a row for each time and group.
    Csv,
    /// The whole report.
    Json,
    /// Findings and tables, for issues.
    Markdown,
}

crate::names!(LogForm {
    Html => "html",
    Svg => "svg",
    Png => "png",
    Csv => "csv",
    Json => "json",
    Markdown => "markdown",
});

impl LogForm {
    /// Returns the ending of file names, without the dot.
    pub fn ending(self) -> &'static str {
        if self == Self::Markdown { "md" } else { self.name() }
    }

    /// Returns the name on buttons.
    pub fn label(self) -> &'static str {
        match self {
            Self::Html => "HTML",
            Self::Svg => "SVG",
            Self::Png => "PNG",
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::Markdown => "Markdown",
        }
    }

    /// Returns true if only a log with curves can be saved in this form.
    pub fn needs_curves(self) -> bool {
        matches!(self, Self::Svg | Self::Png | Self::Csv)
    }

    /// Returns the text of a file in this form and its media type; that of a PNG is the picture from which it is made.
    pub fn text(self, name: &str, report: &LogReport, theme: &Theme) -> (String, &'static str) {
        match self {
            Self::Html => (log_page(name, report), "text/html;charset=utf-8"),
            Self::Svg | Self::Png => (crate::draw::svg::svg(name, &log_picture(name, report, theme)), "image/svg+xml"),
            Self::Csv => (log_csv(report), "text/csv;charset=utf-8"),
            Self::Json => (log_json(name, report), "application/json"),
            Self::Markdown => (log_markdown(name, report), "text/markdown;charset=utf-8"),
        }
    }
}

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

fn whole_chart(curves: &LogCurves, theme: &Theme) -> Sketch {
    let whole = curves.whole();
    Sketch { ops: log_chart(curves, whole, whole.0, CHART, theme).ops, width: CHART.0, height: CHART.1 }
}

/// Height of a row of the key in CSS pixels.
const KEY: f64 = 18.0;

/// Draws a row of the key: the colour of a series and its name.
fn key(row: usize, name: &str, series: Option<usize>, theme: &Theme) -> Vec<crate::draw::op::Op> {
    use crate::draw::op::{Align, Font, Op};
    use crate::draw::rect::Rect;
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
        let bytes = crate::base::format::bytes(limit.bytes);
        (format!("{}, {bytes}", limit.name), None)
    });
    series.chain(limit).collect()
}

#[cfg(test)]
mod tests;
