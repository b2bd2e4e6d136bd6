//! Formats groups of allocations as rows of a table.

use shared::analysis::GroupBy;
use shared::base::format::{bytes, count, percent};
use shared::report::{LiveGroup, LiveGroups};

use crate::commands::text;

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
        let [size, share] = if overlaps(report.by) { Default::default() } else { sizes(report.other_bytes) };
        rows.push(vec![size, share, String::new(), String::new(), title, String::new()]);
    }
    text::table(&rows, &[0, 1, 3])
}

/// Returns true for the group without stacks if all its bytes were allocated before the trace.
fn is_initial(by: GroupBy, row: &LiveGroup) -> bool {
    by == GroupBy::Stack && row.frames.is_empty() && row.initial_bytes == row.bytes
}

/// Returns true if an allocation can be in several groups.
fn overlaps(by: GroupBy) -> bool {
    matches!(by, GroupBy::Frame | GroupBy::Function)
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
