//! Saves the report on a log: as a page for a ticket, as a picture, as Markdown, and as tables for programs.
//!
//! Invariant: a saved log says what the page and the terminal say, since all of them have the same report.

mod page;
mod text;

pub use page::{LOG_ROOM, legend, log_chart, log_picture, series_color};

use crate::draw::theme::Theme;
use crate::report::LogReport;
use page::log_page;
use text::{log_csv, log_json, log_markdown};

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

#[cfg(test)]
mod tests;
