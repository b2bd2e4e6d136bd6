//! Builds the answer about what is alive at a moment or between two events, in groups.

use super::event::{Frame, frame, frames};
use crate::analysis::{
    self, Filter, Group, GroupBy, GroupKey, Groups, Label, Part, Population, Scope, Totals, Weigher, Weight, label,
    select, stack_group, stack_labels,
};
use crate::base::{Moment, StackLabel};
use crate::trace::Trace;
use serde::{Deserialize, Serialize};

/// Allocations of a device alive at one moment or between two events, by a common property.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveGroups {
    pub device: i64,
    /// Event after which the live and reserved bytes hold, -1 for the initial state; in a range, that of its peak.
    pub event: i64,
    pub live_bytes: u64,
    pub reserved_bytes: u64,
    /// Requested range; `None` for a moment.
    pub range: Option<EventRange>,
    /// Text by which allocations were filtered.
    pub filter: Option<String>,
    pub by: GroupBy,
    /// Number of requested allocations; without a range and a filter, of all live ones.
    pub allocations: u64,
    pub bytes: u64,
    /// Groups that hold the most bytes, in descending order.
    pub groups: Vec<LiveGroup>,
    /// Number of groups that are left out.
    pub other_groups: u64,
    /// Bytes of the groups that are left out; by frame or function, groups overlap, and so do their bytes.
    pub other_bytes: u64,
}

/// Range of events, and the part of the allocations in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRange {
    /// First event, -1 if the range begins with the initial state.
    pub from: i64,
    pub to: i64,
    pub part: Part,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveGroup {
    pub bytes: u64,
    pub count: u64,
    pub initial_bytes: u64,
    /// Title of the common property; for a stack, the title of the stack.
    pub title: String,
    /// Text that distinguishes the group from others with the same title, such as the callers; may be empty.
    pub detail: String,
    /// Label of the stack; empty for other groups.
    pub label: StackLabel,
    /// Frames of the stack, innermost first, or the one frame; empty for other groups.
    pub frames: Vec<Frame>,
}

#[derive(Clone, Debug)]
pub struct LiveConfig {
    pub scope: Scope,
    pub filter: Filter,
    /// Text of the filter as the user typed it.
    pub filter_text: Option<String>,
    pub by: GroupBy,
    pub top: usize,
}

impl LiveConfig {
    /// Creates the settings for everything that is alive at a moment, grouped by stack.
    pub fn at(moment: u32, top: usize) -> Self {
        Self { scope: Scope::At(moment), filter: Filter::default(), filter_text: None, by: GroupBy::Stack, top }
    }

    pub fn needs_categories(&self) -> bool {
        self.by == GroupBy::Category || self.filter.needs_categories()
    }
}

/// Groups the allocations of a population that the settings select.
pub fn live_groups(population: &Population<'_>, config: &LiveConfig) -> LiveGroups {
    let Population { trace, device, timeline, .. } = *population;
    let selection = select(population, &config.scope, &config.filter);
    let weigher = Weigher::new(population, &config.scope, Weight::Bytes);
    let groups = analysis::group(population, &selection, &weigher, config.by);
    let (shown, others) = groups.rows.split_at(config.top.min(groups.rows.len()));
    let moment = match &config.scope {
        Scope::At(moment) => *moment,
        Scope::Within { moments, .. } => timeline.live_max_in(moments.clone()).0,
    };
    LiveGroups {
        device: device.index,
        event: Moment(moment).event_number(),
        live_bytes: timeline.live_at(moment),
        reserved_bytes: timeline.reserved_at(moment),
        range: range(&config.scope),
        filter: config.filter_text.clone(),
        by: config.by,
        allocations: groups.totals.count,
        bytes: groups.totals.bytes,
        groups: described(trace, &groups, shown),
        other_groups: others.len() as u64,
        other_bytes: others.iter().map(|row| row.totals.bytes).fold(0, u64::saturating_add),
    }
}

fn range(scope: &Scope) -> Option<EventRange> {
    let Scope::Within { moments, part } = scope else { return None };
    Some(EventRange { from: i64::from(moments.start) - 1, to: i64::from(moments.end) - 2, part: *part })
}

/// Describes groups; stacks with equal labels are told apart.
fn described(trace: &Trace, groups: &Groups, rows: &[Group]) -> Vec<LiveGroup> {
    let stack_of = |row: &Group| if let GroupKey::Stack(stack) = row.key { Some(stack) } else { None };
    let mut labels = stack_labels(trace, rows.iter().filter_map(stack_of)).into_iter();
    let one = |row: &Group| {
        let of_stack = stack_of(row).map(|stack| (stack, labels.next().flatten()));
        let Label { title, detail } = match &of_stack {
            Some((stack, label)) => stack_group(trace, *stack, label.clone()),
            None => label(trace, groups, row.key),
        };
        let Totals { bytes, count, initial_bytes, .. } = row.totals;
        let label = of_stack.and_then(|(_, label)| label).unwrap_or_default();
        LiveGroup { bytes, count, initial_bytes, title, detail, label, frames: common_frames(trace, row.key) }
    };
    rows.iter().map(one).collect()
}

fn common_frames(trace: &Trace, key: GroupKey) -> Vec<Frame> {
    match key {
        GroupKey::Stack(stack) => frames(trace, stack),
        GroupKey::Frame(Some(id)) => vec![frame(trace, id)],
        GroupKey::Function(Some(id)) => vec![Frame { line: 0, ..frame(trace, id) }],
        _ => Vec::new(),
    }
}
