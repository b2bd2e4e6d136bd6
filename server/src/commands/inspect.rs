//! Implements `snapscope inspect`, which describes the format of a snapshot and sums it up.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use shared::analysis::{DistinctStacks, Summary, Timeline, studies};
use shared::api::{FormatName, Inspection};
use shared::base::Moment;
use shared::base::format::{bytes, count, counted, duration};
use shared::report::{LiveConfig, headlines};
use shared::trace::{Action, Container, Device, Encoding, Format};

use super::names::OwnOption;
use super::range::EventRange;
use super::{output, peak, text};
use crate::Failure;
use crate::snapshot_file::Opened;

/// The options of `snapscope inspect`.
#[derive(Debug, Clone, Args)]
pub struct InspectArgs {
    /// The snapshot: a pickle of `_dump_snapshot`, gzipped or not, its JSON form, or an HTML page of `trace_plot`
    file: PathBuf,

    #[command(flatten)]
    events: EventRange,

    #[command(flatten)]
    own: OwnOption,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl InspectArgs {
    /// Reads the file and returns the text to print.
    pub fn run(&self) -> Result<String, Failure> {
        let opened = self.own.apply(self.events.open(&self.file, None)?);
        if self.json {
            return Ok(output::document(&document(&opened)));
        }
        Ok(page(&opened))
    }
}

pub(super) fn document(opened: &Opened) -> Inspection {
    let trace = &opened.trace;
    let distinct = DistinctStacks::of(trace);
    let host = trace.host.as_ref().zip(opened.host_timeline.as_ref());
    Inspection {
        file: opened.file.clone(),
        format: format_name(trace.format),
        devices: opened.devices().map(|(device, timeline)| Summary::of(device, timeline)).collect(),
        host: host.map(|(device, timeline)| Summary::of(device, timeline)),
        unique_frames: distinct.frames,
        unique_stacks: distinct.stacks,
        annotations: trace.annotations.len() as u64,
        diagnostics: opened.diagnostics.clone(),
    }
}

fn format_name(format: Format) -> FormatName {
    let (plain, protocol) = match format.encoding {
        Encoding::Pickle(protocol) => ("pickle", Some(protocol)),
        Encoding::Json => ("json", None),
    };
    let container = match format.container {
        Container::Gzip => "gzip",
        Container::Html => "html",
        Container::Raw => plain,
    };
    FormatName { container, protocol }
}

/// Formats the report for the terminal.
pub(super) fn page(opened: &Opened) -> String {
    let document = document(opened);
    let devices: Vec<_> = opened.devices().collect();
    let sentences: String = { headlines(&opened.trace, &studies(&opened.trace, &devices)).into_iter() }
        .map(|sentence| sentence + "\n")
        .collect();
    let mut page = format!("{}\n{sentences}{}\n", document.file, subtitle(&document));
    let is_unused = |timeline: &Timeline| timeline.live_peak().1 == 0 && timeline.reserved_peak().1 == 0;
    let (quiet, busy): (Vec<_>, Vec<_>) = opened.devices().partition(|(_, timeline)| is_unused(timeline));
    for (device, timeline) in busy {
        device_page(&mut page, opened, &opened.device_name(device.index), device, timeline);
    }
    if let Some((device, timeline)) = opened.trace.host.as_ref().zip(opened.host_timeline.as_ref()) {
        device_page(&mut page, opened, "Pinned host memory", device, timeline);
    }
    if !quiet.is_empty() {
        let names: Vec<String> = quiet.iter().map(|(device, _)| device.index.to_string()).collect();
        let _ = writeln!(page, "\nNo memory was in use on {} {}", opened.device_word(), names.join(", "));
    }
    if !document.diagnostics.is_empty() {
        page.push('\n');
    }
    for diagnostic in &document.diagnostics {
        let _ = writeln!(page, "{}: {}", diagnostic.severity.name(), diagnostic.message);
    }
    page
}

fn subtitle(document: &Inspection) -> String {
    let FormatName { container, protocol } = document.format;
    let written = match (container, protocol) {
        ("pickle", Some(protocol)) => format!("pickle protocol {protocol}"),
        (_, Some(protocol)) => format!("{container}, pickle protocol {protocol}"),
        _ => container.to_owned(),
    };
    let frames = counted(document.unique_frames, "frame");
    let stacks = counted(document.unique_stacks, "stack");
    let annotations = counted(document.annotations, "annotation");
    format!("{written} · {stacks} with {frames} · {annotations}")
}

fn device_page(page: &mut String, opened: &Opened, name: &str, device: &Device, timeline: &Timeline) {
    const PICTURE_WIDTH: u32 = 72;
    const TOP_STACKS: usize = 5;
    let summary = Summary::of(device, timeline);
    let lasting = timeline.duration_us().map_or_else(String::new, |time_us| format!(" in {}", duration(time_us)));
    let _ = writeln!(page, "\n{name} · {}{lasting}\n", counted(summary.events, "event"));
    if !device.events.is_empty() {
        let _ = writeln!(page, "  {}\n", text::sparkline(timeline, PICTURE_WIDTH));
    }
    *page += &text::section(&memory_rows(&summary, Moment(timeline.reserved_peak().0)), &[1]);
    if !summary.actions.is_empty() {
        let named = |&(action, n): &(Action, u64)| format!("{} {}", count(n), action.name());
        let _ = writeln!(page, "  {}", summary.actions.iter().map(named).collect::<Vec<_>>().join(" · "));
    }
    let at_peak = peak::live(opened, device, timeline, &LiveConfig::at(timeline.live_peak().0, TOP_STACKS));
    if !at_peak.groups.is_empty() {
        let _ = write!(page, "\n  Alive at the peak\n{}", text::indented(&peak::group_lines(&at_peak)));
    }
}

fn memory_rows(summary: &Summary, peak_reserved: Moment) -> Vec<Vec<String>> {
    let peak_live = Moment::of_event_number(summary.peak_event);
    let unmatched = match summary.unmatched_frees {
        0 => String::new(),
        frees => format!("{} freed in the trace", counted(frees, "allocation")),
    };
    let row = |name: &str, size_bytes: u64, note: String| vec![name.to_owned(), bytes(size_bytes), note];
    let mut rows = vec![
        row("peak live", summary.peak_live_bytes, peak_live.to_string()),
        row("live at the end", summary.end_live_bytes, String::new()),
        row("live before the trace", summary.initial_bytes, unmatched),
        row("peak reserved", summary.peak_reserved_bytes, peak_reserved.to_string()),
        row("reserved at the end", summary.reserved_bytes, counted(summary.segments, "segment")),
        row("allocated at the end", summary.allocated_bytes, counted(summary.blocks, "block")),
    ];
    if summary.active_bytes != summary.allocated_bytes {
        rows.push(row("active at the end", summary.active_bytes, "including frees that wait for a stream".to_owned()));
    }
    rows
}
