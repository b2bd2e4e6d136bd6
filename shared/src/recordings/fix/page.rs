//! Writes what makes a training fit as one HTML page, which people can attach to a ticket.

use super::{answer, lines, notes, svg, table};
use crate::api::{FixRemedy, FixReport};
use crate::base::format::{bytes, counted, percent};
use crate::base::markup::escaped;
use crate::export::{Html, framed};

/// Writes the page; it needs no network and no script.
pub fn html(report: &FixReport) -> String {
    framed(&report.name, "What makes it fit", |page| {
        page.paragraph("lead", &answer(report));
        page.paragraph("muted", &runs(report));
        page.section("Lines to add", |page| code(lines(report), page));
        page.section("Remedies", |page| {
            let table = table(report);
            let head: Vec<&str> = table.head.iter().map(String::as_str).collect();
            page.push("<div class=\"wide\">\n");
            page.table(&head, &table.right, &table.rows);
            page.push("</div>\n");
            report.remedies.iter().for_each(|remedy| details(remedy, page));
        });
        page.section("Live memory", |page| page.push(&format!("<figure>{}</figure>\n", svg(report))));
        page.section("At the peak as it is", |page| shares(report, page));
        page.section("Notes", |page| {
            let notes = notes(report);
            if !notes.is_empty() {
                page.items("ul", "parts", &notes);
            }
        });
    })
}

/// Says how the figures came about.
fn runs(report: &FixReport) -> String {
    let steps = counted(report.steps, "step");
    let margin = match report.margin_bytes {
        0 => String::new(),
        margin => format!("; what fits leaves {} free", bytes(margin)),
    };
    format!("Each row is a run of {steps} of the training itself on a virtual GPU{margin}.")
}

/// Shows what a remedy does, where, and its lines.
fn details(remedy: &FixRemedy, page: &mut Html) {
    page.details(&format!("`{}`: {}", remedy.name, remedy.title), |page| {
        if !remedy.applied.is_empty() {
            page.items("ul", "parts", &remedy.applied);
        }
        code(&remedy.lines, page);
    });
}

fn code(lines: &[String], page: &mut Html) {
    if !lines.is_empty() {
        page.push(&format!("<pre><code>{}</code></pre>\n", escaped(&lines.join("\n"))));
    }
}

/// Shows what is alive at the baseline's peak as bars.
fn shares(report: &FixReport, page: &mut Html) {
    let peak = report.baseline.peak_live_bytes.max(1);
    if report.at_peak.is_empty() {
        return;
    }
    page.push("<div class=\"bars\">");
    for share in &report.at_peak {
        page.push(&format!("<div><span>{}</span>", escaped(&share.category)));
        page.bar(share.bytes as f64 / peak as f64);
        page.push(&format!("<b>{}</b><i>{}</i></div>", bytes(share.bytes), percent(share.bytes, peak)));
    }
    page.push("</div>\n");
}
