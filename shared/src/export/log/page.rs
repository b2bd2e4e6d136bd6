//! Writes the report on a log as one HTML page, which people can attach to a ticket.

use super::chart::series_color;
use super::picture::{legend, whole_chart};
use crate::base::format;
use crate::base::markup::escaped;
use crate::draw::svg::svg_for_both;
use crate::draw::theme::Theme;
use crate::export::report::{Html, framed};
use crate::report::{Finding, LogCell, LogCurves, LogOwners, LogReport, LogTable};

/// Writes the page; `name` is that of the file.
pub(super) fn log_page(name: &str, report: &LogReport) -> String {
    framed(name, "Memory report", |page| {
        let facts: String = report.facts.iter().map(|fact| format!("; {fact}")).collect();
        page.paragraph("lead", &format!("{}{facts}", report.title));
        report.curves.iter().for_each(|curves| chart(curves, page));
        report.owners.iter().for_each(|owners| bars(owners, page));
        page.section("Findings", |page| {
            let found = &report.diagnosis.findings;
            if found.is_empty() {
                page.paragraph("muted", "No problem found.");
            }
            found.iter().for_each(|found| finding(found, page));
        });
        report.tables.iter().for_each(|table| rows(table, page));
        page.section("About this log", |page| {
            for notice in &report.notices {
                page.paragraph(&format!("notice {}", notice.severity.name()), &notice.message);
            }
        });
    })
}

fn chart(curves: &LogCurves, page: &mut Html) {
    let title = curves.span_text(curves.whole());
    page.section(&curves.quantity, |page| {
        let [light, dark] = [Theme::light(), Theme::dark()].map(|theme| whole_chart(curves, &theme));
        page.push(&format!("<figure>{}</figure>\n", svg_for_both(&title, &light, &dark)));
        page.paragraph("muted", &title);
        let key = |(name, series): (String, Option<usize>)| {
            let theme = Theme::light();
            let color = series.map_or(theme.oom, |position| series_color(position, &theme)).css();
            let rect = format!("<rect width=\"18\" height=\"10\" fill=\"{color}\"/>");
            format!("<li><svg width=\"18\" height=\"10\" aria-hidden=\"true\">{rect}</svg> {}</li>", escaped(&name))
        };
        let keys: String = legend(curves).into_iter().map(key).collect();
        page.push(&format!("<ul class=\"key\">{keys}</ul>\n"));
    });
}

fn bars(owners: &LogOwners, page: &mut Html) {
    let capacity = owners.capacity_bytes.max(1);
    page.section(&format!("{}, {}", owners.title, format::bytes(owners.capacity_bytes)), |page| {
        page.push("<div class=\"bars\">");
        for owner in &owners.parts {
            page.push(&format!("<div><span>{}</span>", escaped(&owner.name)));
            page.bar(owner.bytes as f64 / capacity as f64);
            let share = format::percent(owner.bytes.min(capacity), capacity);
            page.push(&format!("<b>{}</b><i>{share}</i></div>", format::bytes(owner.bytes)));
        }
        page.push("</div>\n");
    });
}

fn finding(found: &Finding, page: &mut Html) {
    let Finding { severity, confidence, title, evidence, steps, why, .. } = found;
    let severity = severity.name();
    page.push(&format!(
        "<article class=\"finding {severity}\">\n<p class=\"tag\">{severity} · {} confidence</p>\n<h3>{}</h3>\n",
        confidence.name(),
        escaped(title)
    ));
    if !steps.is_empty() {
        let steps: Vec<&str> = steps.iter().map(|step| step.text.as_str()).collect();
        page.items("ol", "advice", &steps);
    }
    page.paragraph("", why);
    page.paragraph("", &evidence.shows);
    page.push("</article>\n");
}

fn rows(table: &LogTable, page: &mut Html) {
    page.section(&table.title, |page| {
        let columns: Vec<&str> = table.columns.iter().map(String::as_str).collect();
        let is_number = |column: &usize| {
            let cells = || table.rows.iter().filter_map(|row| row.get(*column));
            !cells().any(|cell| matches!(cell, LogCell::Text(_))) && cells().count() > 0
        };
        let numbers: Vec<usize> = (0..columns.len()).filter(is_number).collect();
        let rows: Vec<Vec<String>> = table.rows.iter().map(|row| row.iter().map(LogCell::text).collect()).collect();
        page.table(&columns, &numbers, &rows);
        if table.left_out > 0 {
            page.paragraph("muted", &format!("{} are not listed", format::counted(table.left_out, "more row")));
        }
    });
}
