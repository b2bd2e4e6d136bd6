//! Groups the selected allocations and formats the groups as rows of a table.

use shared::analysis::{
    Group, GroupBy, GroupKey, Groups, Label, Population, Timeline, Totals, Weigher, Weight, group, label, select, spans,
};
use shared::base::format::{bytes, count, percent};
use shared::report::{Frame, frame, frames};
use shared::trace::{Device, StackId, Trace};

use super::Request;
use crate::commands::text;
use crate::snapshot_file::Opened;

/// Groups of the requested allocations, of which the largest are shown.
pub(in crate::commands) struct Chosen<'a> {
    trace: &'a Trace,
    by: GroupBy,
    groups: Groups,
    top: usize,
}

impl<'a> Chosen<'a> {
    /// Selects and groups the allocations; `timeline` was built from `device`.
    pub(in crate::commands) fn new(
        opened: &'a Opened,
        device: &Device,
        timeline: &Timeline,
        request: &Request,
    ) -> Self {
        let trace = &opened.trace;
        let spans = spans(trace, device);
        let mut population = Population { trace, device, timeline, spans: &spans, categories: &[] };
        let categories = request.categories(&population);
        population.categories = &categories;
        let selection = select(&population, &request.scope, &request.filter);
        let weigher = Weigher::new(&population, &request.scope, Weight::Bytes);
        Self { trace, by: request.by, groups: group(&population, &selection, &weigher, request.by), top: request.top }
    }

    /// Returns the groups to show, the largest first.
    pub(in crate::commands) fn shown(&self) -> &[Group] {
        &self.groups.rows[..self.top.min(self.groups.rows.len())]
    }

    /// Returns the groups that are left out.
    pub(super) fn others(&self) -> &[Group] {
        &self.groups.rows[self.shown().len()..]
    }

    /// Returns the sums over all requested allocations.
    pub(super) fn totals(&self) -> Totals {
        self.groups.totals
    }

    pub(super) fn label(&self, group: &Group) -> Label {
        label(self.trace, &self.groups, group.key)
    }

    /// Returns the frames that the allocations of a group have in common, innermost first.
    pub(super) fn frames(&self, group: &Group) -> Vec<Frame> {
        match group.key {
            GroupKey::Stack(stack) => frames(self.trace, stack),
            GroupKey::Frame(Some(id)) => vec![frame(self.trace, id)],
            GroupKey::Function(Some(id)) => vec![Frame { line: 0, ..frame(self.trace, id) }],
            _ => Vec::new(),
        }
    }
}

const INITIAL: &str = "allocated before the trace, without a stack";

/// Formats the groups as aligned lines with bytes, bars and names.
pub(in crate::commands) fn group_lines(chosen: &Chosen<'_>) -> Vec<String> {
    const BAR_WIDTH: usize = 16;
    let largest = chosen.shown().first().map_or(0, |group| group.totals.bytes);
    let sizes = |size_bytes: u64| [bytes(size_bytes), percent(size_bytes, chosen.totals().bytes)];
    let row = |[bytes, share]: [String; 2], bar: String, n: String, label: Label| {
        vec![bytes, share, bar, n, label.title, label.detail]
    };
    let shown = chosen.shown().iter().map(|group| {
        let bar = text::bar(group.totals.bytes, largest, BAR_WIDTH);
        let label = if is_initial(group) { plain(INITIAL.to_owned()) } else { chosen.label(group) };
        row(sizes(group.totals.bytes), bar, format!("{}×", count(group.totals.count)), label)
    });
    let mut rows: Vec<Vec<String>> = shown.collect();
    if !chosen.others().is_empty() {
        let title =
            format!("{} smaller {}", count(chosen.others().len() as u64), noun(chosen.by, chosen.others().len()));
        let other_bytes = chosen.others().iter().map(|group| group.totals.bytes).fold(0, u64::saturating_add);
        // The sum of overlapping groups has no meaning.
        let sizes = if overlaps(chosen.by) { Default::default() } else { sizes(other_bytes) };
        rows.push(row(sizes, String::new(), String::new(), plain(title)));
    }
    text::table(&rows, &[0, 1, 3])
}

/// Returns true for the group without stacks if all its bytes were allocated before the trace.
fn is_initial(group: &Group) -> bool {
    group.key == GroupKey::Stack(StackId::NONE) && group.totals.initial_bytes == group.totals.bytes
}

fn plain(title: String) -> Label {
    Label { title, detail: String::new() }
}

/// Returns true if an allocation can be in several groups.
fn overlaps(by: GroupBy) -> bool {
    matches!(by, GroupBy::Frame | GroupBy::Function)
}

fn noun(by: GroupBy, n: usize) -> &'static str {
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
