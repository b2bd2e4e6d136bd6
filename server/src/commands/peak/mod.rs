//! `snapscope peak`: what is alive at the peak, or after any event.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use shared::analysis::{StackBytes, Timeline, live_by_stack};
use shared::api::{FrameRow, PeakGroup, PeakReport};
use shared::base::format::{bytes, count, counted, percent};
use shared::trace::{Device, StackId, Trace};

use super::open::Opened;
use super::{stacks, text};
use crate::Failure;

/// The options of `snapscope peak`.
#[derive(Debug, Clone, Args)]
pub struct PeakArgs {
    /// The snapshot: a pickle of `_dump_snapshot`, gzip'd or not, its JSON form, or a page of `trace_plot`
    file: PathBuf,

    /// The GPU index [default: the one with the highest peak]
    #[arg(long, value_name = "N")]
    device: Option<i64>,

    /// The state after this event instead of the peak; -1 is the state before the first event
    #[arg(long, value_name = "EVENT", allow_negative_numbers = true)]
    at: Option<i64>,

    /// What to group by
    #[arg(long, value_enum, default_value_t = GroupBy::Stack)]
    by: GroupBy,

    /// How many groups to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// What allocations can be grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GroupBy {
    /// The call stack that allocated
    Stack,
}

impl PeakArgs {
    /// Reads the file and returns what to print.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no snapshot, or has no such device or event.
    pub fn run(&self) -> Result<String, Failure> {
        let opened = Opened::read(&self.file)?;
        let (device, timeline) = opened.choose_device(self.device)?;
        let moment = self.choose_moment(device, timeline)?;
        let GroupBy::Stack = self.by;
        let groups = groups(&opened, device, timeline, moment, self.top);
        if self.json {
            let report = report(&opened, device, timeline, moment, &groups);
            let document = serde_json::to_string_pretty(&report).expect("plain data can be written");
            return Ok(document + "\n");
        }
        Ok(page(&opened, device, timeline, moment, &groups))
    }

    fn choose_moment(&self, device: &Device, timeline: &Timeline) -> Result<u32, Failure> {
        self.at.map_or(Ok(timeline.live_peak().0), |event| moment_after(device, timeline, event))
    }
}

/// The moment after an event; -1 stands for the one before the first event.
pub(super) fn moment_after(device: &Device, timeline: &Timeline, event: i64) -> Result<u32, Failure> {
    let moment = event.checked_add(1).and_then(|moment| u32::try_from(moment).ok());
    moment.filter(|&moment| moment <= timeline.events()).ok_or_else(|| {
        Failure::new(
            format!("there is no event {event} on device {}", device.index),
            format!("events go from -1 (before the first) to {}", i64::from(timeline.events()) - 1),
        )
    })
}

/// The largest groups at a moment, and what is left.
pub(super) struct Groups<'a> {
    trace: &'a Trace,
    pub(super) groups: Vec<StackBytes>,
    total_bytes: u64,
    allocations: u64,
    other_groups: u64,
    other_bytes: u64,
}

pub(super) fn groups<'a>(
    opened: &'a Opened,
    device: &Device,
    timeline: &Timeline,
    moment: u32,
    top: usize,
) -> Groups<'a> {
    let mut groups = live_by_stack(device, &timeline.allocations, moment);
    let total_bytes = groups.iter().map(|group| group.bytes).sum();
    let allocations = groups.iter().map(|group| group.count).sum();
    let others = groups.split_off(top.min(groups.len()));
    let other_bytes = others.iter().map(|group| group.bytes).sum();
    Groups { trace: &opened.trace, groups, total_bytes, allocations, other_groups: others.len() as u64, other_bytes }
}

/// Bars, bytes and stacks of the groups.
pub(super) fn group_lines(groups: &Groups<'_>) -> Vec<String> {
    const BAR_WIDTH: usize = 16;
    let largest = groups.groups.first().map_or(0, |group| group.bytes);
    let row = |size_bytes: u64, bar: String, n: String, title: String, callers: String| {
        vec![bytes(size_bytes), percent(size_bytes, groups.total_bytes), bar, n, title, callers]
    };
    let mut rows: Vec<Vec<String>> = groups
        .groups
        .iter()
        .map(|group| {
            let (title, callers) = titles(groups.trace, group);
            let bar = text::bar(group.bytes, largest, BAR_WIDTH);
            row(group.bytes, bar, format!("{}×", count(group.count)), title, callers)
        })
        .collect();
    if groups.other_groups > 0 {
        let title = counted(groups.other_groups, "smaller stack");
        rows.push(row(groups.other_bytes, String::new(), String::new(), title, String::new()));
    }
    text::table(&rows, &[0, 1, 3])
}

/// What a group is about, and who called it.
fn titles(trace: &Trace, group: &StackBytes) -> (String, String) {
    const CALLERS: usize = 2;
    if !group.stack.has_frames() && group.initial_bytes == group.bytes {
        return ("from before the trace, without a stack".to_owned(), String::new());
    }
    let title = stacks::title(trace, group.stack);
    // A module's path names its callers already.
    if let Some(operation) = stacks::recorded_operation(trace, group.stack) {
        return (title, operation);
    }
    let program = stacks::program_frames(trace, group.stack);
    let callers: Vec<String> = program
        .into_iter()
        .skip_while(|frame| *frame == title)
        .take(CALLERS)
        .map(|frame| format!("< {frame}"))
        .collect();
    (title, callers.join(" "))
}

fn report(opened: &Opened, device: &Device, timeline: &Timeline, moment: u32, groups: &Groups<'_>) -> PeakReport {
    let trace = &opened.trace;
    let group = |group: &StackBytes| PeakGroup {
        bytes: group.bytes,
        count: group.count,
        initial_bytes: group.initial_bytes,
        title: stacks::title(trace, group.stack),
        frames: frame_rows(trace, group.stack),
    };
    PeakReport {
        file: opened.file.clone(),
        device: device.index,
        event: i64::from(moment) - 1,
        live_bytes: timeline.live_at(moment),
        reserved_bytes: timeline.reserved_at(moment),
        allocations: groups.allocations,
        groups: groups.groups.iter().map(group).collect(),
        other_groups: groups.other_groups,
        other_bytes: groups.other_bytes,
    }
}

pub(super) fn frame_rows(trace: &Trace, stack: StackId) -> Vec<FrameRow> {
    let text = |id| trace.strings.get(id).to_owned();
    let row = |frame: &shared::trace::Frame| FrameRow {
        name: text(frame.name),
        filename: text(frame.filename),
        line: frame.line,
    };
    stacks::frames(trace, stack).map(row).collect()
}

fn page(opened: &Opened, device: &Device, timeline: &Timeline, moment: u32, groups: &Groups<'_>) -> String {
    let at = match moment {
        0 => "before the first event".to_owned(),
        moment => format!("after event {}", count(u64::from(moment) - 1)),
    };
    let head = format!(
        "{}\nGPU {} · {} live in {} {at} · {} reserved\n\n",
        opened.file,
        device.index,
        bytes(timeline.live_at(moment)),
        counted(groups.allocations, "allocation"),
        bytes(timeline.reserved_at(moment)),
    );
    group_lines(groups).into_iter().fold(head, |page, line| page + &line + "\n")
}
