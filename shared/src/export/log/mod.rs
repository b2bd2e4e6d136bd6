//! Saves the report on a log: as a page for a ticket, as a picture, as Markdown, as JSON, and its curves as a table.
//!
//! Invariant: a saved log says what the page and the terminal say, since all of them have the same report.

mod page;

use crate::base::format;
use crate::draw::Theme;
use crate::export::csv_text;
use crate::export::subject::quoted;
use crate::report::{Diagnosis, LogCell, LogOwners, LogReport, LogTable};
use page::log_page;
pub use page::{LOG_ROOM, legend, log_chart, log_picture, series_color};
use std::fmt::Write as _;

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

/// Writes the curves: a row for each time and series, with the time as text and in microseconds, and plain bytes.
///
/// Times count from the Unix epoch if the log has dates.
fn log_csv(report: &LogReport) -> String {
    let mut text = "quantity,series,time,time_us,bytes\r\n".to_owned();
    for curves in &report.curves {
        let quantity = csv_text(&curves.quantity);
        for series in &curves.series {
            let name = csv_text(&series.name);
            for (&us, bytes) in curves.times_us.iter().zip(&series.bytes) {
                let _ = write!(text, "{quantity},{name},{},{us},{bytes}\r\n", curves.time_text(us));
            }
        }
    }
    text
}

fn log_json(name: &str, report: &LogReport) -> String {
    let report = serde_json::to_string_pretty(report).expect("plain data can be written");
    format!("{{\"file\":{},\"report\":{report}}}\n", quoted(name))
}

/// Writes title, owners, findings, tables and notices in GitHub's Markdown.
pub fn log_markdown(name: &str, report: &LogReport) -> String {
    let facts: String = report.facts.iter().map(|fact| format!("; {fact}")).collect();
    let mut text = format!("## {}\n\n{}\n", escaped(name), escaped(&format!("{}{facts}", report.title)));
    report.owners.iter().for_each(|owners| table(&of_owners(owners), &mut text));
    text += &findings_markdown(&report.diagnosis, "GPU");
    report.tables.iter().for_each(|one| table(one, &mut text));
    for notice in &report.notices {
        let _ = write!(text, "\n{}: {}\n", notice.severity.name(), escaped(&notice.message));
    }
    text
}

/// Writes findings with their steps and reasons; `word` is the word for a device.
fn findings_markdown(diagnosis: &Diagnosis, word: &str) -> String {
    let mut text = "\n### Findings\n".to_owned();
    if diagnosis.findings.is_empty() {
        text += "\nNo problem found.\n";
    }
    for finding in &diagnosis.findings {
        let parts: String = finding.parts.iter().map(|part| format!("- {}\n", escaped(&part.text()))).collect();
        let steps: String =
            (1..).zip(&finding.steps).map(|(number, step)| format!("{number}. {}\n", escaped(&step.text))).collect();
        let [why, shows] = [&finding.why, &finding.evidence.shows].map(|reason| escaped(reason) + "\n");
        let headline = format!("**{}**\n", escaped(&finding.headline(word)));
        for block in [headline, parts, steps, why, shows].iter().filter(|block| !block.trim().is_empty()) {
            let _ = write!(text, "\n{block}");
        }
    }
    text
}

/// Writes the sentences about the devices of a snapshot, and the findings, in GitHub's Markdown; `word` is the word for a
/// device.
pub fn diagnosis_markdown(name: &str, diagnosis: &Diagnosis, word: &str) -> String {
    let mut text = format!("## {}\n\n", escaped(name));
    diagnosis.runs.iter().for_each(|run| text += &format!("- {}\n", escaped(&run.headline)));
    text + &findings_markdown(diagnosis, word)
}

fn of_owners(owners: &LogOwners) -> LogTable {
    let title = format!("{}, {}", owners.title, format::bytes(owners.capacity_bytes));
    let rows = owners.parts.iter().map(|owner| vec![LogCell::Text(owner.name.clone()), LogCell::Bytes(owner.bytes)]);
    LogTable::new(title, ["Owner", "Memory"], rows)
}

fn table(table: &LogTable, text: &mut String) {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        let cells: Vec<String> = cells.map(|cell| escaped(&cell).replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let _ = write!(text, "\n### {}\n\n", escaped(&table.title));
    *text += &line(&mut table.columns.iter().cloned());
    *text += &line(&mut table.columns.iter().map(|_| "---".to_owned()));
    table.rows.iter().for_each(|row| *text += &line(&mut row.iter().map(LogCell::text)));
    if table.left_out > 0 {
        let _ = write!(text, "\n{} are not listed\n", format::counted(table.left_out, "more row"));
    }
}

/// Escapes what would be markup outside of code, and ends of lines.
fn escaped(text: &str) -> String {
    let mut is_code = false;
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        is_code ^= letter == '`';
        match letter {
            '\n' | '\r' => escaped.push(' '),
            '<' if !is_code => escaped += "&lt;",
            '*' | '_' | '[' | ']' if !is_code => escaped.extend(['\\', letter]),
            letter => escaped.push(letter),
        }
    }
    escaped
}
