//! Formats the answer of `snapscope peak` for the terminal, and groups of allocations for other commands.

use shared::analysis::{GroupBy, Part};
use shared::base::Moment;
use shared::base::format::{bytes, count, counted, percent};
use shared::report::{EventRange, LiveGroup, LiveGroups};

use crate::commands::text;

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

const INITIAL: &str = "allocated before the trace, without a stack";

/// Formats the groups as aligned lines with bytes, bars and names.
pub(in crate::commands) fn group_lines(report: &LiveGroups) -> Vec<String> {
    const BAR_WIDTH: usize = 16;
    let largest = report.groups.first().map_or(0, |row| row.bytes);
    let sizes = |size_bytes: u64| [bytes(size_bytes), percent(size_bytes, report.bytes)];
    let shown = report.groups.iter().map(|row| {
        let bar = text::bar(row.bytes, largest, BAR_WIDTH);
        let [title, detail] =
            if is_initial(report.by, row) { [INITIAL, ""] } else { [row.title.as_str(), &row.detail] };
        let [size, share] = sizes(row.bytes);
        vec![size, share, bar, format!("{}×", count(row.count)), title.to_owned(), detail.to_owned()]
    });
    let mut rows: Vec<Vec<String>> = shown.collect();
    if report.other_groups > 0 {
        let title = format!("{} smaller {}", count(report.other_groups), noun(report.by, report.other_groups));
        // The sum of overlapping groups has no meaning.
        let overlap = matches!(report.by, GroupBy::Frame | GroupBy::Function);
        let [size, share] = if overlap { Default::default() } else { sizes(report.other_bytes) };
        rows.push(vec![size, share, String::new(), String::new(), title, String::new()]);
    }
    text::table(&rows, &[0, 1, 3])
}

/// Returns true for the group without stacks if all its bytes were allocated before the trace.
fn is_initial(by: GroupBy, row: &LiveGroup) -> bool {
    by == GroupBy::Stack && row.frames.is_empty() && row.initial_bytes == row.bytes
}

fn noun(by: GroupBy, n: u64) -> &'static str {
    let [one, many] = match by {
        GroupBy::Stack => ["stack", "stacks"],
        GroupBy::Frame => ["frame", "frames"],
        GroupBy::Function => ["function", "functions"],
        GroupBy::Module => ["module", "modules"],
        GroupBy::Category => ["category", "categories"],
        GroupBy::Stream => ["stream", "streams"],
        GroupBy::Pool => ["pool", "pools"],
        GroupBy::SizeClass => ["size class", "size classes"],
    };
    if n == 1 { one } else { many }
}
