//! Writes the sections of the report: the file as a whole, each device, and the findings.

use super::html::Html;
use crate::analysis::{
    Course, Finding, FindingPart, Fragmentation, Kept, PhaseBasis, StackBytes, StepSource, Study, Summary,
    live_by_category, live_by_stack, recording_diagnostics, stack_labels,
};
use crate::base::Moment;
use crate::base::format::{self, bytes, count, counted, duration};
use crate::base::markup::escaped;
use crate::export::subject::{Subject, device_name};
use crate::report::{DiagnosisConfig, diagnosis};
use crate::trace::{Action, Container, Encoding};

const MOST_STACKS: usize = 15;

/// Maximum number of steps to show; of more, the first and the last ones are shown.
const MOST_STEPS: usize = 12;

const MOST_OOMS: usize = 20;

/// Formats a share in percent, escaped because it may begin with `<`.
fn percent(part: u64, whole: u64) -> String {
    escaped(&format::percent(part, whole))
}

/// Writes the parts of a whole below each other, each with its bytes and its share.
fn bars(page: &mut Html, whole: u64, parts: impl Iterator<Item = (String, u64)>) {
    page.push("<div class=\"bars\">\n");
    for (name, part) in parts {
        page.push(&format!("<div><span>{}</span>", escaped(&name)));
        page.bar(part as f64 / whole as f64);
        page.push(&format!("<b>{}</b><i>{}</i></div>\n", bytes(part), percent(part, whole)));
    }
    page.push("</div>\n");
}

/// Writes what is alive at the moment of the report, by category and by stack.
pub(super) fn live(subject: &Subject<'_>, study: &Study<'_>, of: &str, page: &mut Html) {
    let moment = subject.moment_of(study.timeline);
    let total = study.timeline.live_at(moment);
    let heading = if subject.moment.is_none() { "Live memory at the peak" } else { "Live memory" };
    page.section(&format!("{heading}{of}"), |page| {
        if total == 0 {
            return;
        }
        page.paragraph("lead", &format!("{} live {}", bytes(total), Moment(moment)));
        if study.phases.are_told() {
            let held = live_by_category(study, moment).into_iter();
            bars(page, total, held.map(|held| (held.category.name().replace('-', " "), held.bytes)));
            if study.phases.basis() == PhaseBasis::Operations {
                let basis = "Categories come from PyTorch operations, because the program's frames are missing.";
                page.paragraph("muted", basis);
            }
        }
        stacks(subject, &live_by_stack(study.device, &study.timeline.allocations, moment), total, page);
    });
}

fn stacks(subject: &Subject<'_>, groups: &[StackBytes], total: u64, page: &mut Html) {
    let (shown, others) = groups.split_at(groups.len().min(MOST_STACKS));
    page.push("<ol class=\"stacks\">\n");
    let labels = stack_labels(subject.trace, shown.iter().map(|group| group.stack));
    for (group, label) in shown.iter().zip(labels) {
        let title = escaped(&label.map_or_else(|| subject.title(group.stack), |label| label.text()));
        let allocations = counted(group.count, "allocation");
        let (size, share) = (bytes(group.bytes), percent(group.bytes, total));
        page.push(&format!(
            "<li><div class=\"row\"><span>{title}</span><b>{size}</b></div>\
             <div class=\"row muted\"><span>{allocations}</span><i>{share}</i></div>"
        ));
        page.bar(group.bytes as f64 / total as f64);
        page.stack(subject, group.stack, "Stack");
        page.push("</li>\n");
    }
    page.push("</ol>\n");
    if !others.is_empty() {
        let rest: u64 = others.iter().map(|group| group.bytes).sum();
        let stacks = counted(others.len() as u64, "more stack");
        page.paragraph("muted", &format!("{stacks} with {}", bytes(rest)));
    }
}

/// Writes what grows from step to step, and a table of the steps.
pub(super) fn steps(subject: &Subject<'_>, study: &Study<'_>, of: &str, page: &mut Html) {
    let Some(steps) = &study.steps else { return };
    page.section(&format!("Steps and growth{of}"), |page| {
        let found = match steps.source {
            StepSource::Annotations => "by annotations",
            StepSource::Optimizer => "by optimizer updates",
            StepSource::Period => "by repetition",
        };
        let growth = match study.growth.bytes_per_step() {
            0 => "live memory does not grow from step to step".to_owned(),
            growth => format!("live memory grows by {} per step", bytes(growth)),
        };
        page.paragraph("lead", &format!("{} steps, found {found}; {growth}", count(steps.steps.len() as u64)));
        let growing = study.growth.kept.iter().filter(|kept| kept.course == Course::Grows);
        let row = |kept: &Kept| {
            let what = match kept.size_bytes {
                Some(size) => format!("allocations of {} without a stack", bytes(size)),
                None => subject.title(kept.stack),
            };
            vec![what, bytes(kept.bytes_per_step), bytes(kept.end_bytes), count(kept.end_count)]
        };
        let rows: Vec<Vec<String>> = growing.take(MOST_STACKS).map(row).collect();
        if !rows.is_empty() {
            page.table(&["Growing memory", "Per step", "At the end", "Allocations"], &[1, 2, 3], &rows);
        }
        step_table(study, page);
    });
}

fn step_table(study: &Study<'_>, page: &mut Html) {
    let steps = study.steps.as_ref().map_or(&[][..], |steps| &steps.steps);
    let is_shown =
        |index: usize| steps.len() <= MOST_STEPS || index < MOST_STEPS / 2 || index >= steps.len() - MOST_STEPS / 2;
    let timeline = study.timeline;
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        if is_shown(index) {
            let (peak, live) = timeline.live_max_in(step.start..step.end + 1);
            let reserved = timeline.reserved_max_in(step.start..step.end + 1).1;
            let end = bytes(timeline.live_at(step.end));
            let peak_event = u64::from(Moment(peak).event().unwrap_or(0));
            rows.push(vec![count(index as u64), bytes(live), count(peak_event), bytes(reserved), end]);
        } else if is_shown(index - 1) {
            rows.push(["…", "", "", "", ""].map(str::to_owned).to_vec());
        }
    }
    page.table(&["Step", "Peak live", "at event", "Peak reserved", "Live at the end"], &[0, 1, 2, 3, 4], &rows);
}

/// Writes the parts of the reserved bytes at their peak.
pub(super) fn reserved(study: &Study<'_>, of: &str, page: &mut Html) {
    let (moment, most_bytes) = study.timeline.reserved_peak();
    page.section(&format!("Reserved memory{of}"), |page| {
        if most_bytes == 0 {
            return;
        }
        let parts = Fragmentation::at(study, moment);
        page.paragraph("lead", &format!("{} reserved at the peak, {}", bytes(most_bytes), Moment(moment)));
        let named = [
            ("live", parts.live_bytes),
            ("rounding", parts.rounding_bytes + parts.unsplit_bytes),
            ("free in segments in use", parts.free_in_used_bytes),
            ("unused segments", parts.free_segment_bytes),
        ];
        bars(page, parts.reserved_bytes.max(1), named.map(|(name, part)| (name.to_owned(), part)).into_iter());
        let (segments, used) = (counted(parts.segments, "segment"), count(parts.used_segments));
        let longest = bytes(parts.largest_free_bytes);
        page.paragraph("muted", &format!("{segments}, {used} of them in use; the largest free range is {longest}"));
    });
}

pub(super) fn out_of_memory(subject: &Subject<'_>, study: &Study<'_>, of: &str, page: &mut Html) {
    let events = &study.device.events;
    let ooms: Vec<usize> =
        events.actions().iter().enumerate().filter(|(_, action)| *action == Action::Oom).map(|row| row.0).collect();
    page.section(&format!("Out of memory{of}"), |page| {
        if ooms.is_empty() {
            return;
        }
        let row = |&index: &usize| {
            let event = events.at(index);
            let (live, reserved) = (study.timeline.live_at(index as u32), study.timeline.reserved_at(index as u32));
            let sizes = [event.size_bytes, event.addr, live, reserved].map(bytes);
            [count(index as u64)].into_iter().chain(sizes).chain([subject.title(event.stack)]).collect()
        };
        let rows: Vec<Vec<String>> = ooms.iter().take(MOST_OOMS).map(row).collect();
        let columns = ["Event", "Requested", "Free on the device", "Live", "Reserved", "Stack"];
        page.table(&columns, &[0, 1, 2, 3, 4], &rows);
        if ooms.len() > MOST_OOMS {
            page.paragraph("muted", &format!("{} in total", counted(ooms.len() as u64, "out-of-memory error")));
        }
    });
}

/// Writes the figures of the only device, or a table of all devices.
pub(super) fn headlines(subject: &Subject<'_>, studies: &[Study<'_>], page: &mut Html) {
    let config = DiagnosisConfig { findings: subject.findings_config(), ..DiagnosisConfig::default() };
    let told = diagnosis(subject.trace, studies, &config);
    told.runs.iter().for_each(|run| page.paragraph("lead", &run.headline));
}

pub(super) fn figures(studies: &[Study<'_>], page: &mut Html) {
    match studies {
        [] => page.paragraph("lead", "The snapshot has no device: CUDA was never initialized in its process."),
        [study] => {
            let figures = figures_of(study);
            let events = if figures[3] == "1" { "event" } else { "events" };
            let names = ["peak live", "peak reserved", "live at the end", events, "duration"];
            page.figures(&figures.into_iter().zip(names.map(str::to_owned)).collect::<Vec<_>>());
        }
        _ => {
            let row = |study: &Study<'_>| {
                let mut row = figures_of(study);
                row.insert(0, device_name(study.device));
                row.resize(6, "–".to_owned());
                row
            };
            let rows: Vec<Vec<String>> = studies.iter().map(row).collect();
            let columns = ["Device", "Peak live", "Peak reserved", "Live at the end", "Events", "Duration"];
            page.table(&columns, &[1, 2, 3, 4, 5], &rows);
        }
    }
}

/// Returns the highest live and reserved bytes of a device, those that are live at the end, the number of events, and
/// their duration if they have times.
fn figures_of(study: &Study<'_>) -> Vec<String> {
    let summary = Summary::of(study.device, study.timeline);
    let sizes = [summary.peak_live_bytes, summary.peak_reserved_bytes, summary.end_live_bytes].map(bytes);
    let duration = study.timeline.duration_us().map(duration);
    sizes.into_iter().chain([count(summary.events)]).chain(duration).collect()
}

/// Writes the allocator settings, the diagnostics and how the page was made.
pub(super) fn about(subject: &Subject<'_>, page: &mut Html) {
    page.section("Allocator settings", |page| {
        let settings = &subject.trace.settings.entries;
        let rows: Vec<_> = settings.iter().map(|(name, value)| vec![name.clone(), value.to_string()]).collect();
        if !rows.is_empty() {
            page.table(&["Setting", "Value"], &[], &rows);
        }
    });
    page.section("About the recording", |page| {
        let mut notices = recording_diagnostics(subject.trace, subject.devices);
        notices.extend(subject.trace.diagnostics.iter().cloned());
        for notice in &notices {
            page.paragraph(&format!("notice {}", notice.severity.name()), &notice.message);
        }
        let annotations = counted(subject.trace.annotations.len() as u64, "annotation");
        page.paragraph("muted", &format!("The file is {} with {annotations}.", format(subject)));
        let made = format!(
            "Live bytes are the sum of requested sizes; reserved bytes are the sum of segment sizes. Snapscope {} made \
             this page with `snapscope export --to html`. The page loads no other files and runs no scripts.",
            env!("CARGO_PKG_VERSION")
        );
        page.paragraph("muted", &made);
    });
}

fn format(subject: &Subject<'_>) -> String {
    let encoding = match subject.trace.format.encoding {
        Encoding::Pickle(protocol) => format!("a pickle of protocol {protocol}"),
        Encoding::Json => "JSON".to_owned(),
    };
    match subject.trace.format.container {
        Container::Raw => encoding,
        Container::Gzip => format!("{encoding} in gzip"),
        Container::Html => format!("{encoding} in an HTML page"),
    }
}

const MOST_EVIDENCE_STACKS: usize = 3;

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
    for &stack in evidence.stacks.iter().take(MOST_EVIDENCE_STACKS) {
        page.stack(subject, stack, &subject.title(stack));
    }
    page.push("</article>\n");
}
