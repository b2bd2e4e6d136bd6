//! Writes the sections about one device: live memory, steps, reserved memory and failures.

use super::html::Html;
use crate::analysis::{
    Course, Fragmentation, PhaseBasis, StackBytes, StepSource, Study, live_by_category, live_by_stack,
};
use crate::base::Moment;
use crate::base::format::{self, bytes, count, counted};
use crate::base::markup::escaped;
use crate::export::subject::Subject;
use crate::trace::Action;

/// Maximum number of stacks to show.
const MOST_STACKS: usize = 15;

/// Maximum number of steps to show; of more, the first and the last ones are shown.
const MOST_STEPS: usize = 12;

/// Maximum number of out-of-memory events to show.
const MOST_OOMS: usize = 20;

/// Formats a share in percent, escaped because it may begin with `<`.
fn percent(part: u64, whole: u64) -> String {
    escaped(&format::percent(part, whole))
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
            page.push("<div class=\"bars\">\n");
            for held in live_by_category(study, moment) {
                let name = escaped(held.category.name());
                page.push(&format!("<div><span>{}</span>", name.replace('-', " ")));
                page.bar(held.bytes as f64 / total as f64);
                page.push(&format!("<b>{}</b><i>{}</i></div>\n", bytes(held.bytes), percent(held.bytes, total)));
            }
            page.push("</div>\n");
            if study.phases.basis() == PhaseBasis::Operations {
                page.paragraph(
                    "muted",
                    "Categories come from PyTorch operations, because the program's frames are missing.",
                );
            }
        }
        stacks(subject, &live_by_stack(study.device, &study.timeline.allocations, moment), total, page);
    });
}

fn stacks(subject: &Subject<'_>, groups: &[StackBytes], total: u64, page: &mut Html) {
    let (shown, others) = groups.split_at(groups.len().min(MOST_STACKS));
    page.push("<ol class=\"stacks\">\n");
    for group in shown {
        let title = escaped(&subject.title(group.stack));
        let allocations = counted(group.count, "allocation");
        page.push(&format!(
            "<li><div class=\"row\"><span>{title}</span><b>{}</b></div>\
             <div class=\"row muted\"><span>{allocations}</span><i>{}</i></div>",
            bytes(group.bytes),
            percent(group.bytes, total)
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
        let rows: Vec<Vec<String>> = growing
            .take(MOST_STACKS)
            .map(|kept| {
                let what = match kept.size_bytes {
                    Some(size) => format!("allocations of {} without a stack", bytes(size)),
                    None => subject.title(kept.stack),
                };
                vec![what, bytes(kept.bytes_per_step), bytes(kept.end_bytes), count(kept.end_count)]
            })
            .collect();
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
        let whole = parts.reserved_bytes.max(1);
        page.paragraph("lead", &format!("{} reserved at the peak, {}", bytes(most_bytes), Moment(moment)));
        page.push("<div class=\"bars\">\n");
        for (name, part) in [
            ("live", parts.live_bytes),
            ("rounding", parts.rounding_bytes + parts.unsplit_bytes),
            ("free in segments in use", parts.free_in_used_bytes),
            ("unused segments", parts.free_segment_bytes),
        ] {
            page.push(&format!("<div><span>{name}</span>"));
            page.bar(part as f64 / whole as f64);
            page.push(&format!("<b>{}</b><i>{}</i></div>\n", bytes(part), percent(part, whole)));
        }
        page.push("</div>\n");
        let segments = counted(parts.segments, "segment");
        let longest = bytes(parts.largest_free_bytes);
        page.paragraph(
            "muted",
            &format!("{segments}, {} of them in use; the largest free range is {longest}", count(parts.used_segments)),
        );
    });
}

/// Writes a table of the out-of-memory events.
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
            vec![
                count(index as u64),
                bytes(event.size_bytes),
                bytes(event.addr),
                bytes(live),
                bytes(reserved),
                subject.title(event.stack),
            ]
        };
        let rows: Vec<_> = ooms.iter().take(MOST_OOMS).map(row).collect();
        let columns = ["Event", "Requested", "Free on the device", "Live", "Reserved", "Stack"];
        page.table(&columns, &[0, 1, 2, 3, 4], &rows);
        if ooms.len() > MOST_OOMS {
            page.paragraph("muted", &format!("{} in total", counted(ooms.len() as u64, "out-of-memory error")));
        }
    });
}
