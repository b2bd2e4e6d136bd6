//! Formats the answer of `snapscope peak` for the terminal.

use shared::analysis::Part;
use shared::base::Moment;
use shared::base::format::{bytes, count, counted};
use shared::report::{EventRange, LiveGroups};

use super::group_lines;

pub(in crate::commands) fn page(file: &str, report: &LiveGroups) -> String {
    let head = format!("{file}\nGPU {} · {}\n\n", report.device, head(report));
    group_lines(report).into_iter().fold(head, |page, line| page + &line + "\n")
}

/// Formats the line that names the selected allocations and their sums.
fn head(report: &LiveGroups) -> String {
    let moment = Moment::of_event_number(report.event);
    let (live, reserved) = (bytes(report.live_bytes), bytes(report.reserved_bytes));
    let found = format!("in {}", counted(report.allocations, "allocation"));
    let sum = bytes(report.bytes);
    let with = report.filter.as_ref().map(|text| format!(" with \"{text}\"")).unwrap_or_default();
    match report.range {
        None if with.is_empty() => format!("{live} live {found} {moment} · {reserved} reserved"),
        None => format!("{sum} {found}{with} of {live} live {moment} · {reserved} reserved"),
        Some(EventRange { from, to, part }) => {
            let event = |event: i64| count(u64::try_from(event).unwrap_or(0));
            let between = match from {
                -1 => format!("the start and event {}", event(to)),
                from => format!("events {} and {}", event(from), event(to)),
            };
            format!("{sum} {found}{with}, {} between {between} · {live} live at most", words(part))
        }
    }
}

fn words(part: Part) -> &'static str {
    match part {
        Part::Any => "alive",
        Part::Born => "allocated",
        Part::Died => "freed",
        Part::Survived => "alive throughout",
        Part::BornAndDied => "allocated and freed",
        Part::BornAndKept => "allocated and kept",
    }
}
