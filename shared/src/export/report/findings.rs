//! Writes the findings, each with what matters, what to do and why.

use super::html::Html;
use crate::analysis::{Finding, FindingPart};
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
        found.iter().for_each(|(finding, parts)| one(subject, finding, parts, page));
    });
}

fn one(subject: &Subject<'_>, finding: &Finding, parts: &[FindingPart], page: &mut Html) {
    let Finding { severity, confidence, title, evidence, advice, device, .. } = finding;
    let of = if subject.devices.len() > 1 { format!(" · GPU {device}") } else { String::new() };
    let severity = severity.name();
    page.push(&format!(
        "<article class=\"finding {severity}\">\n<p class=\"tag\">{severity}{of} · {} confidence</p>\n<h3>{}</h3>\n",
        confidence.name(),
        escaped(title)
    ));
    if !parts.is_empty() {
        let parts: Vec<String> = parts.iter().map(FindingPart::text).collect();
        page.items("ul", "parts", &parts);
    }
    if !advice.steps.is_empty() {
        let steps: Vec<&str> = advice.steps.iter().map(|step| step.text.as_str()).collect();
        page.items("ol", "advice", &steps);
    }
    page.paragraph("", &advice.why);
    page.paragraph("", &evidence.shows);
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
