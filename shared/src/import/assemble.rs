//! Rows and the root of the document to a trace.

use super::build::{EVENT, LIST, POOL, RawSegment, RowList, SEGMENT, SnapshotBuilder};
use super::documents;
use super::error::ImportError;
use super::foreign::{self, MOST_ITEMS, MOST_KEYS, MOST_LEVELS, Outline};
use super::keeper::Keeper;
use super::keys::*;
use super::oddities::Record;
use super::part::{self, Overview, OverviewDevice};
use super::runs::Runs;
use super::unwind::unwind;
use crate::base::{Diagnostic, Severity, StringId, format};
use crate::pickle::{Heap, Kind, Val, ValueMaker};
use crate::trace::{
    Annotation, Block, Device, Encoding, EventTable, Format, Segment, SegmentTable, Settings, StackId, Trace,
};
use std::collections::BTreeMap;

/// The values of the top-level keys.
#[derive(Debug, Default)]
struct Root {
    segments: Option<Val>,
    device_traces: Option<Val>,
    settings: Option<Val>,
    annotations: Option<Val>,
    host_segments: Option<Val>,
    host_traces: Option<Val>,
}

/// Makes the trace of a document whose records were taken by `builder`.
///
/// `budget` bounds the values of the small documents: the bytes of the input.
pub(super) fn assemble(
    mut builder: SnapshotBuilder,
    heap: &Heap,
    root: Val,
    format: Format,
    budget: u64,
) -> Result<Trace, ImportError> {
    let root = read_root(&mut builder, heap, root, format.encoding)?;
    let mut diagnostics = Vec::new();
    let mut documents = Documents { heap, budget, diagnostics: &mut diagnostics };
    let annotations = documents.annotations(&mut builder, root.annotations);
    let settings = documents.settings(&builder, root.settings);

    let mut devices = BTreeMap::<i64, Device>::new();
    let traces = device_lists(&builder, heap, root.device_traces, &mut diagnostics);
    let host_events = root.host_traces.and_then(|val| rows_of(&builder, val, EVENT)).cloned();
    let keeper = builder.keeper.take();
    let (tables, host_table) = match &keeper {
        Some(keeper) => (kept_events(&mut builder.events, &traces, keeper)?, EventTable::default()),
        None => split_events(&mut builder.events, &traces, host_events.as_ref()),
    };
    for (index, events) in tables.into_iter().enumerate() {
        let index = index as i64;
        devices.insert(index, Device { index, events, ..Device::default() });
    }
    for segment in segments_of(&builder, root.segments) {
        let device = devices.entry(segment.device).or_default();
        device.index = segment.device;
        place_segment(&builder, segment, &mut device.segments, &mut diagnostics);
    }
    let host = host_device(&builder, &root, host_table, &mut diagnostics);
    if let Some(keeper) = keeper
        && let Some(device) = devices.get_mut(&keeper.request.device())
    {
        device.part = Some(Box::new(unwind(*keeper, &mut device.segments, &builder.contexts)));
    }
    let SnapshotBuilder { strings, frames, stacks, contexts, oddities, .. } = builder;
    diagnostics.extend(oddities.diagnostics(&strings));
    let devices = devices.into_values().collect();
    Ok(Trace { format, strings, frames, stacks, contexts, devices, host, annotations, settings, diagnostics })
}

fn read_root(builder: &mut SnapshotBuilder, heap: &Heap, root: Val, encoding: Encoding) -> Result<Root, ImportError> {
    let is_json = encoding == Encoding::Json;
    // Up to torch 1.13 the snapshot is the list of segments; an empty one is the snapshot of an idle process.
    let is_segment_list = rows_of(builder, root, SEGMENT).is_some() || matches!(root.kind(), Kind::EmptyList);
    if is_segment_list {
        return Ok(Root { segments: Some(root), ..Root::default() });
    }
    let Some(entries) = heap.entries(root) else { return Err(not_a_snapshot(builder, heap, root, is_json)) };
    let mut found = Root::default();
    for pair in entries.chunks_exact(2) {
        let key = pair[0].as_str().unwrap_or(StringId::EMPTY);
        let val = Some(heap.current(pair[1]));
        match key.index() {
            SEGMENTS => found.segments = val,
            DEVICE_TRACES => found.device_traces = val,
            ALLOCATOR_SETTINGS => found.settings = val,
            EXTERNAL_ANNOTATIONS => found.annotations = val,
            HOST_SEGMENTS => found.host_segments = val,
            HOST_TRACES => found.host_traces = val,
            _ => builder.oddities.unknown_key(Record::Snapshot, key),
        }
    }
    if found.segments.is_none() && found.device_traces.is_none() {
        return Err(not_a_snapshot(builder, heap, root, is_json));
    }
    Ok(found)
}

/// What a document is that was read and is no snapshot.
fn not_a_snapshot(builder: &SnapshotBuilder, heap: &Heap, root: Val, is_json: bool) -> ImportError {
    foreign::other_data(&outline(builder, heap, root, 0), is_json)
}

/// The outermost levels of a document, as its text would show them.
fn outline(builder: &SnapshotBuilder, heap: &Heap, val: Val, level: usize) -> Outline {
    let val = heap.current(val);
    let inner = |item: &Val| outline(builder, heap, *item, level + 1);
    match val.kind() {
        Kind::Handle(POOL, _) => Outline::List(vec![Outline::Number(0.0); 2], 2),
        Kind::Handle(..) => Outline::Part,
        Kind::Str(id) => Outline::Text(builder.strings.get(id).to_owned()),
        _ if level > MOST_LEVELS => Outline::Other,
        Kind::EmptyDict | Kind::FreshDict(_) => Outline::Table(Vec::new()),
        Kind::FreshList(_) => Outline::List(Vec::new(), 0),
        _ => {
            if let Some(entries) = heap.entries(val) {
                let names = entries.chunks_exact(2).map(|pair| pair[0].as_str().unwrap_or(StringId::EMPTY));
                return Outline::Table(names.take(MOST_KEYS).map(|key| builder.strings.get(key).to_owned()).collect());
            }
            match (heap.items(val), heap.as_f64(val)) {
                (Some(items), _) => Outline::List(items.iter().take(MOST_ITEMS).map(inner).collect(), items.len()),
                (None, Some(number)) => Outline::Number(number),
                (None, None) => Outline::Other,
            }
        }
    }
}

fn rows_of(builder: &SnapshotBuilder, val: Val, kind: u8) -> Option<&Runs> {
    match val.as_handle()? {
        (LIST, number) => {
            let RowList { kind: found, rows } = &builder.lists[number as usize];
            (*found == kind).then_some(rows)
        }
        _ => None,
    }
}

/// The event list of each device index.
fn device_lists(
    builder: &SnapshotBuilder,
    heap: &Heap,
    traces: Option<Val>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Runs> {
    let Some(traces) = traces else { return Vec::new() };
    if let Some(rows) = rows_of(builder, traces, EVENT) {
        // A single list instead of one for each device.
        return vec![rows.clone()];
    }
    let mut odd = 0;
    let lists = heap.items(traces).unwrap_or_default().iter().map(|&list| match list.kind() {
        Kind::EmptyList | Kind::EmptyTuple => Runs::default(),
        _ => rows_of(builder, heap.current(list), EVENT).cloned().unwrap_or_else(|| {
            odd += 1;
            Runs::default()
        }),
    });
    let lists = lists.collect();
    if odd > 0 {
        diagnostics.push(Diagnostic {
            code: "unreadable-traces",
            severity: Severity::Error,
            offset: None,
            count: odd,
            message: format!(
                "{} could not be read as a list of events and counts as empty. Record the snapshot again if that \
                 device matters.",
                format::counted(odd, "device trace")
            ),
        });
    }
    lists
}

/// Deals the events out to their lists, freeing the common table as it goes.
fn split_events(events: &mut EventTable, lists: &[Runs], host: Option<&Runs>) -> (Vec<EventTable>, EventTable) {
    let all = std::mem::take(events);
    let lists: Vec<&Runs> = lists.iter().chain(host).collect();
    let mut tables = all.split(&lists.iter().map(|runs| runs.ranges()).collect::<Vec<_>>());
    let host_table = if host.is_some() { tables.pop().unwrap_or_default() } else { EventTable::default() };
    (tables, host_table)
}

/// The events of a part for its device, none for the others.
///
/// # Errors
/// If the device's events are not where the first pass saw them.
fn kept_events(events: &mut EventTable, lists: &[Runs], keeper: &Keeper) -> Result<Vec<EventTable>, ImportError> {
    let mut tables: Vec<EventTable> = lists.iter().map(|_| EventTable::default()).collect();
    let position = usize::try_from(keeper.request.device()).ok();
    let list = position.and_then(|position| lists.get(position)).map(Runs::ranges);
    if list != Some(std::slice::from_ref(&keeper.request.rows)) {
        return Err(part::changed());
    }
    tables[position.unwrap_or(0)] = std::mem::take(events);
    Ok(tables)
}

/// What the first pass over a file tells.
pub(super) fn overview(
    mut builder: SnapshotBuilder,
    heap: &Heap,
    root: Val,
    encoding: Encoding,
) -> Result<Overview, ImportError> {
    let root = read_root(&mut builder, heap, root, encoding)?;
    let lists = device_lists(&builder, heap, root.device_traces, &mut Vec::new());
    let Some(watch) = builder.watch.take() else { return Ok(Overview::default()) };
    let traces = watch.traces();
    let live = last_live_bytes(&builder);
    let mut devices = Vec::new();
    for (index, list) in lists.iter().enumerate().filter(|(_, list)| !list.ranges().is_empty()) {
        let index = index as i64;
        let trace = traces.iter().find(|trace| list.ranges() == std::slice::from_ref(&trace.rows));
        let Some(trace) = trace.filter(|_| !watch.is_odd()) else { return Err(part::odd_lists()) };
        let last = live.iter().find(|(device, _)| *device == index).map_or(0, |(_, bytes)| *bytes);
        let first_live_bytes = (last as i64).saturating_sub(trace.last_bytes).max(0) as u64;
        devices.push(OverviewDevice { index, trace: trace.clone(), first_live_bytes });
    }
    Ok(Overview { file_bytes: 0, devices })
}

/// Live bytes at the end by device, as far as the segments have been read.
pub(super) fn last_live_bytes(builder: &SnapshotBuilder) -> Vec<(i64, u64)> {
    let mut live = BTreeMap::<i64, u64>::new();
    for segment in &builder.segments {
        let rows = segment.blocks.into_iter().flat_map(|list| builder.lists[list as usize].rows.rows());
        let blocks = rows.map(|row| builder.blocks[row as usize]);
        let active = blocks.filter(|block| block.state != crate::trace::BlockState::Inactive);
        let bytes = active.map(|block| block.requested_bytes.filter(|&bytes| bytes > 0).unwrap_or(block.size_bytes));
        let sum = live.entry(segment.device).or_default();
        *sum = bytes.fold(*sum, u64::saturating_add);
    }
    live.into_iter().collect()
}

fn segments_of(builder: &SnapshotBuilder, val: Option<Val>) -> impl Iterator<Item = RawSegment> + '_ {
    let rows = val.and_then(|val| rows_of(builder, val, SEGMENT));
    rows.into_iter().flat_map(Runs::rows).map(|row| builder.segments[row as usize])
}

/// Copies a segment and its blocks into a device's table.
fn place_segment(
    builder: &SnapshotBuilder,
    raw: RawSegment,
    table: &mut SegmentTable,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let first = table.blocks.len() as u32;
    let mut addr = raw.addr;
    let rows = raw.blocks.into_iter().flat_map(|list| builder.lists[list as usize].rows.rows());
    for row in rows {
        let raw = builder.blocks[row as usize];
        let history_start = table.history.len() as u32;
        let entries = raw.history.into_iter().flat_map(|list| builder.lists[list as usize].rows.rows());
        table.history.extend(entries.map(|row| builder.history[row as usize]));
        let newest = table.history.get(history_start as usize);
        let stack = match raw.stack {
            StackId::NONE => newest.map_or(StackId::NONE, |entry| entry.stack),
            stack => stack,
        };
        let history = (history_start, table.history.len() as u32);
        let block = Block {
            addr: raw.addr.unwrap_or(addr),
            size_bytes: raw.size_bytes,
            requested_bytes: raw.requested_bytes,
            state: raw.state,
            stack,
            history,
        };
        addr = block.addr.wrapping_add(block.size_bytes);
        table.blocks.push(block);
    }
    let blocks = (first, table.blocks.len() as u32);
    if addr != raw.addr.wrapping_add(raw.size_bytes) {
        count(diagnostics, "blocks-do-not-tile", Severity::Warning, |n| {
            format!(
                "The blocks of {} do not fill it exactly. Free bytes inside segments may be wrong.",
                format::counted(n, "segment")
            )
        });
    }
    let sum = |active: fn(crate::trace::BlockState) -> bool| {
        table.blocks[first as usize..].iter().filter(|block| active(block.state)).map(|block| block.size_bytes).sum()
    };
    use crate::trace::BlockState::{Allocated, Inactive};
    table.segments.push(Segment {
        addr: raw.addr,
        size_bytes: raw.size_bytes,
        allocated_bytes: raw.allocated_bytes.unwrap_or_else(|| sum(|state| state == Allocated)),
        active_bytes: raw.active_bytes.unwrap_or_else(|| sum(|state| state != Inactive)),
        requested_bytes: raw.requested_bytes,
        stream: raw.stream,
        segment_type: raw.segment_type,
        pool: raw.pool,
        is_expandable: raw.is_expandable,
        stack: raw.stack,
        blocks,
    });
}

fn host_device(
    builder: &SnapshotBuilder,
    root: &Root,
    events: EventTable,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Device> {
    let mut host = Device { index: -1, events, ..Device::default() };
    for segment in segments_of(builder, root.host_segments) {
        place_segment(builder, segment, &mut host.segments, diagnostics);
    }
    (!host.events.is_empty() || !host.segments.segments.is_empty()).then_some(host)
}

/// Counts one more case of a diagnostic that is met segment by segment.
fn count(all: &mut Vec<Diagnostic>, code: &'static str, severity: Severity, message: impl Fn(u64) -> String) {
    match all.iter_mut().find(|diagnostic| diagnostic.code == code) {
        Some(known) => {
            known.count += 1;
            known.message = message(known.count);
        }
        None => all.push(Diagnostic { code, severity, offset: None, count: 1, message: message(1) }),
    }
}

/// The parts that serde types.
struct Documents<'a> {
    heap: &'a Heap,
    budget: u64,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Documents<'_> {
    fn annotations(&mut self, builder: &mut SnapshotBuilder, val: Option<Val>) -> Vec<Annotation> {
        let Some(items) = val.and_then(|val| self.heap.items(val)) else { return Vec::new() };
        let mut annotations = Vec::with_capacity(items.len());
        let mut odd = 0;
        for &item in items {
            let document = ValueMaker::new(self.heap, &builder.strings, self.budget).value(item).ok();
            match document.and_then(|document| documents::annotation(document, &mut builder.strings)) {
                Some(annotation) => annotations.push(annotation),
                None => odd += 1,
            }
        }
        self.note(odd, "unreadable-annotations", "annotation");
        annotations
    }

    fn settings(&mut self, builder: &SnapshotBuilder, val: Option<Val>) -> Settings {
        let Some(val) = val else { return Settings::default() };
        let mut maker = ValueMaker::new(self.heap, &builder.strings, self.budget);
        let (settings, odd) = maker.value(val).map_or((Settings::default(), 1), documents::settings);
        self.note(odd, "unreadable-settings", "allocator setting");
        settings
    }

    fn note(&mut self, count: u64, code: &'static str, noun: &str) {
        if count > 0 {
            let message = format!("{} could not be read and was skipped.", format::counted(count, noun));
            self.diagnostics.push(Diagnostic { code, severity: Severity::Warning, offset: None, count, message });
        }
    }
}
