//! Reports on memory timelines of torch.profiler: memory by category over time, and at the peak.

use crate::analysis::FindingCode;
use crate::base::format;
use crate::logs::source::{LogPart, Source};
use crate::logs::torch_profiler::{TensorCategory, Timeline, TimelineForm, TimelinePoint};
use crate::report::{Finding, HOST, LogCell, LogCurves, LogNotice, LogSeries, LogTable, MOST_TIMES, extremes};
use std::cmp::Reverse;

/// Times from which microseconds count from the Unix epoch, 2001-09-09.
const EARLIEST_US: i64 = 1_000_000_000_000_000;

/// What to use instead of a timeline.
const SNAPSHOT: &str = "[record] Record a snapshot, which has all that PyTorch allocates on a GPU, with the stack of each \
                        tensor: ``torch.cuda.memory._record_memory_history(max_entries=1_000_000)``, then \
                        `torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")`.";

impl Source for Timeline {
    fn part(&self) -> LogPart {
        let order = order(self);
        LogPart {
            title: title(self),
            curves: curves(self, &order).into_iter().collect(),
            findings: vec![finding(self, &order)],
            tables: table(self, &order).into_iter().collect(),
            notices: notices(self),
            ..LogPart::default()
        }
    }
}

/// Returns what the file is and how much it has.
fn title(timeline: &Timeline) -> String {
    let Some((first, last)) = timeline.points.first().zip(timeline.points.last()) else {
        return "Memory timeline of torch.profiler".to_owned();
    };
    let times = format::counted(timeline.points.len() as u64, "level");
    let duration = format::duration(last.time_us.abs_diff(first.time_us));
    format!("Memory timeline of torch.profiler: {times} in {duration}")
}

/// Returns the categories that have memory at some time, those with the most at the peak first.
fn order(timeline: &Timeline) -> Vec<TensorCategory> {
    let Some(peak) = timeline.peak() else { return Vec::new() };
    let is_used = |category: &TensorCategory| timeline.points.iter().any(|point| point.bytes[*category as usize] > 0);
    let mut order: Vec<TensorCategory> = TensorCategory::ALL.into_iter().filter(is_used).collect();
    order.sort_by_key(|category| Reverse(peak.bytes[*category as usize]));
    order
}

/// Returns the memory of each category over time, on top of each other.
fn curves(timeline: &Timeline, order: &[TensorCategory]) -> Option<LogCurves> {
    let points = &timeline.points;
    let first_us = points.first()?.time_us;
    let has_dates = first_us >= EARLIEST_US;
    let start_us = if has_dates { 0 } else { first_us };
    let shown = extremes(points.len(), MOST_TIMES, |at| points[at].total());
    let series = order.iter().map(|category| LogSeries {
        name: capitalized(category.name()),
        bytes: shown.iter().map(|&at| points[at].bytes[*category as usize]).collect(),
    });
    Some(LogCurves {
        quantity: "Memory by category".to_owned(),
        is_stacked: true,
        has_steps: true,
        has_dates,
        has_times: true,
        times_us: shown.iter().map(|&at| points[at].time_us.saturating_sub(start_us)).collect(),
        series: series.collect(),
        ..LogCurves::default()
    })
}

fn capitalized(name: &str) -> String {
    name.chars().take(1).flat_map(char::to_uppercase).chain(name.chars().skip(1)).collect()
}

/// Returns what each category has at the peak, at most and at the end.
fn table(timeline: &Timeline, order: &[TensorCategory]) -> Option<LogTable> {
    let (peak, last) = (timeline.peak()?, timeline.points.last()?);
    let row = |category: &TensorCategory| {
        let bytes = |point: &TimelinePoint| point.bytes[*category as usize];
        let most = timeline.points.iter().map(bytes).max().unwrap_or(0);
        let sizes = [bytes(peak), most, bytes(last)].map(LogCell::Bytes);
        [LogCell::Text(capitalized(category.name()))].into_iter().chain(sizes).collect()
    };
    Some(LogTable::new(
        "Tensors by category",
        ["Category", "At the peak", "Highest", "At the end"],
        order.iter().map(row),
    ))
}

fn finding(timeline: &Timeline, order: &[TensorCategory]) -> Finding {
    match (timeline.form, timeline.peak()) {
        (TimelineForm::Picture, _) => nothing(
            "The page has a picture of the memory and no figures",
            "Into a page, `export_memory_timeline` puts only an image; even the maxima of allocated and reserved memory \
             are drawn into it.",
            "Open the page in a browser to look at it.\nFor figures, call `export_memory_timeline` with a name that ends \
             with `.json.gz`.",
        ),
        (_, Some(peak)) if peak.total() > 0 => peak_finding(timeline, peak, order),
        _ if timeline.is_cut => nothing(
            "The timeline ends before its first size",
            "The file is cut: all times stand before the first size.",
            "Export or copy the file again.",
        ),
        _ => nothing(
            "The timeline is empty",
            "The profiler has no events of tensors on the chosen device. With a `schedule`, it forgets its events at the \
             end of each cycle.",
            "Call `export_memory_timeline` in the function that you pass as `on_trace_ready`, and create the profiler \
             with `profile_memory=True`, `record_shapes=True` and `with_stack=True`.",
        ),
    }
}

fn nothing(title: &str, shows: &str, advice: &str) -> Finding {
    Finding::stated(
        FindingCode::TooLittleRecorded,
        HOST,
        0,
        title.to_owned(),
        shows.to_owned(),
        format!("{advice}\n{SNAPSHOT}"),
    )
}

/// Reports what the peak consists of.
fn peak_finding(timeline: &Timeline, peak: &TimelinePoint, order: &[TensorCategory]) -> Finding {
    let total = peak.total();
    let part = |category: &TensorCategory| {
        let bytes = peak.bytes[*category as usize];
        format!("{} {} ({})", format::bytes(bytes), words(*category), format::percent(bytes, total))
    };
    let is_part = |category: &&TensorCategory| peak.bytes[**category as usize] > 0;
    let parts: Vec<String> = order.iter().filter(is_part).map(part).collect();
    let first_us = timeline.points.first().map_or(peak.time_us, |first| first.time_us);
    let after = format::duration(peak.time_us.abs_diff(first_us));
    let remedy = order.first().map_or("", |category| remedy(*category));
    Finding::stated(
        FindingCode::Peak,
        HOST,
        total,
        format!("The peak is {} of tensors that the profiler saw", format::bytes(total)),
        format!("{after} after the beginning, they were {}.", parts.join(", ")),
        format!("{remedy}{SNAPSHOT}"),
    )
}

/// Returns the words for a category behind a size.
fn words(category: TensorCategory) -> String {
    match category {
        TensorCategory::Unknown => "of unknown purpose".to_owned(),
        known => format!("of {}", known.name()),
    }
}

/// Returns how to shrink the largest part of a peak, as a line with its end.
fn remedy(largest: TensorCategory) -> &'static str {
    match largest {
        TensorCategory::Activation | TensorCategory::AutogradDetail => {
            "Activations are the largest part: use smaller batches with gradient accumulation, activation checkpointing \
             (`torch.utils.checkpoint`) or `torch.autocast`.\n"
        }
        TensorCategory::OptimizerState => {
            "The optimizer's state is the largest part: use an optimizer with 8-bit state, or shard it across GPUs \
             (`ZeroRedundancyOptimizer` or FSDP).\n"
        }
        TensorCategory::Parameter => {
            "The weights are the largest part: store them in 16 bits, or shard them across GPUs (FSDP).\n"
        }
        TensorCategory::Gradient => {
            "Gradients are the largest part: store them in 16 bits, or shard them across GPUs (FSDP).\n"
        }
        TensorCategory::Input | TensorCategory::Temporary | TensorCategory::Unknown => "",
    }
}

/// Says what is missing in the timeline.
fn notices(timeline: &Timeline) -> Vec<LogNotice> {
    let warning = |message: String| LogNotice::warning(message);
    let Timeline { is_cut, unread, left_out, .. } = *timeline;
    let mut notices = Vec::new();
    if is_cut {
        notices.push(warning("The file is cut: later levels are missing.".to_owned()));
    }
    if unread > 0 {
        let entries = format::count(unread);
        notices.push(warning(format!("Entries that were not understood, or free more than there was: {entries}.")));
    }
    if left_out > 0 {
        let left_out = format::counted(left_out, "level");
        notices.push(warning(format!("The timeline is longer than can be kept, without {left_out} at its end.")));
    }
    if !timeline.points.is_empty() {
        let message = "The file does not name its device, and lacks memory of which the profiler saw no tensor, such as \
                       workspaces of cuBLAS from before it; `torch.cuda.max_memory_allocated()` counts that, too.";
        notices.push(LogNotice::info(message));
    }
    notices
}
