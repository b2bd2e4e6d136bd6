//! Formats the comparison for the terminal and as Markdown.

use std::fmt::Write as _;

use shared::analysis::DiffBy;
use shared::base::format::{bytes, percent, signed};
use shared::export::markdown_text;

use super::options::CiRunArgs;
use super::report::{CiReport, CiStatus, PeakChange};
use crate::commands::diff::Table;
use crate::commands::text;

pub(super) fn page(args: &CiRunArgs, report: &CiReport) -> String {
    let mut page = format!("\n{}\n", heading(args, report));
    if !report.peaks.is_empty() {
        let head = ["", &report.base.name, &report.head.name, "", "", ""].map(str::to_owned);
        let rows = std::iter::once(head).chain(report.peaks.iter().map(peak_row)).map(Vec::from);
        let _ = write!(page, "\n{}", text::section(&rows.collect::<Vec<_>>(), &[1, 2, 3, 4]));
    }
    if let Some(comparison) = &report.comparison {
        let _ = write!(page, "\n{}", Table::of(comparison, DiffBy::Stack, args.top).text());
    }
    if !report.new_findings.is_empty() {
        page += "\nNew in the head\n";
    }
    for finding in &report.new_findings {
        let _ = writeln!(page, "  {}: {}", finding.severity.name(), finding.title);
        for step in &finding.steps {
            text::lines(&step.text).iter().for_each(|line| page += &format!("    {line}\n"));
        }
    }
    for note in &report.notes {
        text::lines(&format!("Note: {note}")).iter().for_each(|line| page += &format!("{line}\n"));
    }
    page
}

/// Formats the report as Markdown, for the summary of a CI job or for a review.
pub(super) fn markdown(args: &CiRunArgs, report: &CiReport) -> String {
    let mut page = format!("### {}\n", markdown_text(&heading(args, report)));
    if !report.peaks.is_empty() {
        let (base, head) = (markdown_text(&report.base.name), markdown_text(&report.head.name));
        let _ = write!(page, "\n| | {base} | {head} | difference | | limit |\n| --- | --: | --: | --: | --: | --- |\n");
        for [of, base, head, delta, share, limit] in report.peaks.iter().map(peak_row) {
            let _ = writeln!(page, "| {of} | {base} | {head} | {delta} | {share} | {limit} |");
        }
    }
    if let Some(comparison) = &report.comparison {
        let table = |by| Table::of(comparison, by, args.top).markdown();
        let _ = write!(page, "\n**At the peaks**\n\n{}", table(DiffBy::Stack));
        let by = table(DiffBy::Category);
        let _ = write!(page, "\n<details><summary>By category</summary>\n\n{by}\n</details>\n");
    }
    if !report.new_findings.is_empty() {
        page += "\n**New in the head**\n\n";
    }
    for finding in &report.new_findings {
        let steps: Vec<String> = finding.steps.iter().map(|step| markdown_text(&step.text)).collect();
        let _ = writeln!(page, "- {}: {}. {}", finding.severity.name(), markdown_text(&finding.title), steps.join(" "));
    }
    if !report.notes.is_empty() {
        page.push('\n');
    }
    for note in &report.notes {
        let _ = writeln!(page, "- Note: {}", markdown_text(note));
    }
    page
}

/// Puts the result into a line.
fn heading(args: &CiRunArgs, report: &CiReport) -> String {
    let command: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
    let result = match report.status {
        CiStatus::WithinLimits => match report.peaks.first() {
            Some(peak) if peak.delta_bytes != 0 => format!("the peak changes by {}", signed(peak.delta_bytes, bytes)),
            _ => "the peak is the same".to_owned(),
        },
        CiStatus::AboveLimit => {
            let above: Vec<_> = report.peaks.iter().filter(|peak| peak.is_above_limit).map(above).collect();
            above.join(", ")
        }
        CiStatus::OutOfMemory => "the head runs out of memory".to_owned(),
        CiStatus::Failed => "a script failed".to_owned(),
        CiStatus::Unsupported => "a script needs what is not supported".to_owned(),
    };
    format!("GPU memory of {} on {}: {result}", command.join(" "), report.head.run.card)
}

fn above(peak: &PeakChange) -> String {
    let limit = peak.limit.as_deref().unwrap_or_default();
    format!(
        "peak {} memory grows by {}, more than the limit of {limit}",
        peak.of,
        bytes(peak.delta_bytes.unsigned_abs())
    )
}

/// Returns the cells of a peak: name, base, head, difference, share of the base, limit.
fn peak_row(peak: &PeakChange) -> [String; 6] {
    let share = percent(peak.delta_bytes.unsigned_abs(), peak.base_bytes);
    let sign = if peak.delta_bytes < 0 { "−" } else { "+" };
    let limit = match (&peak.limit, peak.is_above_limit) {
        (None, _) => String::new(),
        (Some(limit), true) => format!("more than the limit of {limit}"),
        (Some(limit), false) => format!("within the limit of {limit}"),
    };
    [
        format!("peak {}", peak.of),
        bytes(peak.base_bytes),
        bytes(peak.head_bytes),
        signed(peak.delta_bytes, bytes),
        if peak.delta_bytes == 0 { String::new() } else { format!("{sign}{share}") },
        limit,
    ]
}
