//! Writes the findings, each with its evidence and advice.

use super::html::Html;
use crate::analysis::Finding;
use crate::base::format;
use crate::base::markup::escaped;
use crate::export::subject::Subject;

/// Maximum number of stacks to show for a finding.
const MOST_STACKS: usize = 3;

pub(super) fn findings(subject: &Subject<'_>, page: &mut Html) {
    let found = subject.findings();
    page.section("Findings", |page| {
        if found.is_empty() {
            page.paragraph("muted", "No findings: no memory was in use.");
        }
        found.iter().for_each(|finding| one(subject, finding, page));
    });
}

fn one(subject: &Subject<'_>, finding: &Finding, page: &mut Html) {
    let Finding { severity, confidence, title, evidence, advice, device, .. } = finding;
    let of = if subject.devices.len() > 1 { format!(" · GPU {device}") } else { String::new() };
    let severity = severity.name();
    page.push(&format!(
        "<article class=\"finding {severity}\">\n<p class=\"tag\">{severity}{of} · {} confidence</p>\n<h3>{}</h3>\n",
        confidence.name(),
        escaped(title)
    ));
    page.paragraph("", &evidence.shows);
    if !advice.is_empty() {
        page.push("<div class=\"advice\">");
        page.paragraph("", advice);
        page.push("</div>\n");
    }
    if !evidence.events.is_empty() {
        let events: Vec<String> = evidence.events.iter().map(|&event| format::count(event.into())).collect();
        let noun = if events.len() == 1 { "Event" } else { "Events" };
        page.paragraph("muted", &format!("{noun} {}", events.join(", ")));
    }
    for &stack in evidence.stacks.iter().take(MOST_STACKS) {
        page.stack(subject, stack, &subject.title(stack));
    }
    page.push("</article>\n");
}
