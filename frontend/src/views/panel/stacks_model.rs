//! Texts and numbers of the stacks that hold the memory at a moment.

use crate::ask::stack::titled;
use shared::base::{StackLabel, format};
use shared::report::{LiveGroup, LiveGroups};

#[derive(Clone, Debug, PartialEq)]
pub struct TopStack {
    pub label: StackLabel,
    pub size: String,
    /// Share of the live bytes.
    pub share: String,
    /// Number of allocations.
    pub count: String,
    /// Length of the bar, as a percentage of the longest one.
    pub bar: f64,
}

/// Returns the lines of the table, largest first.
pub fn rows(stacks: &LiveGroups) -> Vec<TopStack> {
    let longest = stacks.groups.iter().map(|row| row.bytes).max().unwrap_or(0);
    stacks.groups.iter().map(|row| top_stack(row, stacks.live_bytes, longest)).collect()
}

/// Describes the stacks without a line of their own, if there are any.
pub fn rest(stacks: &LiveGroups) -> Option<String> {
    (stacks.other_groups > 0).then(|| {
        let size = format::bytes(stacks.other_bytes);
        format!("{size} more in {}", format::counted(stacks.other_groups, "other stack"))
    })
}

fn top_stack(row: &LiveGroup, live_bytes: u64, longest: u64) -> TopStack {
    TopStack {
        label: titled((!row.frames.is_empty()).then(|| row.label.clone())),
        size: format::bytes(row.bytes),
        share: format::percent(row.bytes, live_bytes),
        count: format::counted(row.count, "allocation"),
        bar: if longest == 0 { 0.0 } else { row.bytes as f64 * 100.0 / longest as f64 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::report::Frame;

    #[test]
    fn rows_have_titles_and_bars() {
        let frame = Frame { name: "forward".into(), filename: "/srv/app/model.py".into(), line: 3, fx: None };
        let label = StackLabel { title: "forward".into(), place: "model.py:3".into(), ..StackLabel::default() };
        let row =
            |bytes, count, frames| LiveGroup { bytes, count, frames, label: label.clone(), ..LiveGroup::default() };
        let stacks = LiveGroups {
            live_bytes: 4096,
            groups: vec![row(2048, 2, vec![frame]), row(1024, 1, vec![])],
            other_groups: 3,
            other_bytes: 1024,
            ..LiveGroups::default()
        };
        let rows = rows(&stacks);
        assert_eq!((rows[0].label.title.as_str(), rows[0].label.place.as_str()), ("forward", "model.py:3"));
        assert_eq!((rows[0].share.as_str(), rows[0].bar), ("50 %", 100.0));
        assert_eq!((rows[1].label.title.as_str(), rows[1].bar), ("No stack recorded", 50.0));
        assert_eq!(rest(&stacks).as_deref(), Some("1.00 KiB more in 3 other stacks"));
    }
}
