//! Assembles a trace from the rows and the root of a document.

use super::build::{RawSegment, Runs, SnapshotBuilder};
use super::documents;
use super::error::{ImportError, MOST_DEVICES, too_many_devices};
use super::foreign::other_data;
use super::keys::{EVENT, LIST, SEGMENT, *};
use super::oddities::Record;
use super::part::{self, Keeper, Overview, OverviewDevice};
use super::room::{Room, RowBudget};
use super::unwind::unwind;
use crate::base::{Diagnostic, Severity, StringId, format};
use crate::pickle::{Heap, Kind, Val};
use crate::trace::{Block, BlockState, Device, Encoding, EventTable, Format, Segment, SegmentTable, StackId, Trace};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// Values of the top-level keys.
#[derive(Debug, Default)]
struct Root {
    segments: Option<Val>,
    device_traces: Option<Val>,
    settings: Option<Val>,
    annotations: Option<Val>,
    host_segments: Option<Val>,
    host_traces: Option<Val>,
}

/// Assembles the trace of a snapshot whose records are in `builder`, and whose `bytes` limit the rows that lists share.
pub(super) fn assemble(
    mut builder: SnapshotBuilder,
    heap: &Heap,
    root: Val,
    format: Format,
    bytes: u64,
) -> Result<Trace, ImportError> {
    let root = read_root(&mut builder, heap, root, format.encoding)?;
    let mut diagnostics = Vec::new();
    let traces = device_lists(&builder, heap, root.device_traces, &mut diagnostics)?;
    let host_events = root.host_traces.and_then(|val| list_of(&builder, val, EVENT));
    let mut rows = RowBudget::new(&builder, bytes);
    rows.take_events(traces.iter().copied().chain([host_events]))?;
    let rooms = rows.take_segments(segments_of(&builder, root.segments))?;
    let host_rooms = rows.take_segments(segments_of(&builder, root.host_segments))?;

    let annotations = documents::annotations(heap, root.annotations, &builder.strings, bytes, &mut diagnostics);
    let settings = documents::settings(heap, root.settings, &builder.strings, bytes, &mut diagnostics);

    let keeper = builder.keeper.take();
    let events = std::mem::take(&mut builder.events);
    let mut lists: Vec<&[Range<u32>]> = traces.iter().map(|&list| ranges(&builder, list)).collect();
    let (tables, host_table) = match &keeper {
        Some(keeper) => (kept_events(events, &lists, keeper)?, EventTable::default()),
        None => {
            lists.extend(host_events.map(|list| ranges(&builder, Some(list))));
            let mut tables = events.split(&lists);
            let host_table = host_events.and_then(|_| tables.pop());
            (tables, host_table.unwrap_or_default())
        }
    };
    let mut devices = BTreeMap::<i64, Device>::new();
    for (index, events) in tables.into_iter().enumerate() {
        let index = index as i64;
        devices.insert(index, Device { index, events, ..Device::default() });
    }
    for (index, room) in rooms {
        let device = devices.entry(index).or_default();
        (device.index, device.segments) = (index, room.table());
    }
    for segment in segments_of(&builder, root.segments) {
        let device = devices.entry(segment.device).or_default();
        place_segment(&builder, segment, &mut device.segments, &mut diagnostics);
    }
    let host = host_device(&builder, &root, host_rooms, host_table, &mut diagnostics);
    if let Some(keeper) = keeper
        && let Some(device) = devices.get_mut(&keeper.request.device())
    {
        device.part = Some(Box::new(unwind(*keeper, &mut device.segments, &builder.contexts)));
    }
    let SnapshotBuilder { strings, frames, stacks, contexts, oddities, .. } = builder;
    diagnostics.extend(oddities.diagnostics(&strings));
    let (devices, own_frames) = (devices.into_values().collect(), Default::default());
    Ok(Trace {
        format,
        strings,
        frames,
        stacks,
        contexts,
        devices,
        host,
        annotations,
        settings,
        diagnostics,
        own_frames,
    })
}

fn read_root(
    builder: &mut SnapshotBuilder,
    heap: &Heap,
    document: Val,
    encoding: Encoding,
) -> Result<Root, ImportError> {
    let is_json = encoding == Encoding::Json;
    // Up to torch 1.13, the snapshot is the list of segments; an empty list is the snapshot of an idle process.
    let is_segment_list = rows_of(builder, document, SEGMENT).is_some() || matches!(document.kind(), Kind::EmptyList);
    if is_segment_list {
        return Ok(Root { segments: Some(document), ..Root::default() });
    }
    // A script that collects snapshots has written one.
    let root = heap.items(document).filter(|items| items.len() == 1).map_or(document, |items| heap.current(items[0]));
    let Some(entries) = heap.entries(root) else { return Err(other_data(builder, heap, document, is_json)) };
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
        return Err(other_data(builder, heap, document, is_json));
    }
    Ok(found)
}

/// Returns the number of a list of rows of this kind.
fn list_of(builder: &SnapshotBuilder, val: Val, kind: u8) -> Option<u32> {
    match val.as_handle()? {
        (LIST, number) if builder.lists[number as usize].kind == kind => Some(number),
        _ => None,
    }
}

fn rows_of(builder: &SnapshotBuilder, val: Val, kind: u8) -> Option<&Runs> {
    list_of(builder, val, kind).map(|list| &builder.lists[list as usize].rows)
}

/// Returns the rows of a list, or none for `None`.
fn ranges(builder: &SnapshotBuilder, list: Option<u32>) -> &[Range<u32>] {
    list.map_or(&[], |list| builder.lists[list as usize].rows.ranges())
}

/// Returns the event list of each device index, `None` for an empty list; at most [`MOST_DEVICES`].
fn device_lists(
    builder: &SnapshotBuilder,
    heap: &Heap,
    traces: Option<Val>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Option<u32>>, ImportError> {
    let Some(traces) = traces else { return Ok(Vec::new()) };
    if let Some(list) = list_of(builder, traces, EVENT) {
        // A single list instead of one per device.
        return Ok(vec![Some(list)]);
    }
    let lists = heap.items(traces).unwrap_or_default();
    if lists.len() > MOST_DEVICES {
        return Err(too_many_devices());
    }
    let mut odd = 0;
    let lists = lists.iter().map(|&list| match list.kind() {
        Kind::EmptyList | Kind::EmptyTuple => None,
        _ => list_of(builder, heap.current(list), EVENT).or_else(|| {
            odd += 1;
            None
        }),
    });
    let lists = lists.collect();
    if odd > 0 {
        let traces = format::counted(odd, "device trace");
        let message = format!(
            "{traces} could not be read as a list of events and will appear empty. Record the snapshot again if you \
             need that device."
        );
        diagnostics.push(Diagnostic::new(Severity::Error, "unreadable-traces", odd, message));
    }
    Ok(lists)
}

/// Returns the events of the part for its device, if they are where the first pass found them; none for the others.
fn kept_events(events: EventTable, lists: &[&[Range<u32>]], keeper: &Keeper) -> Result<Vec<EventTable>, ImportError> {
    let mut tables: Vec<EventTable> = lists.iter().map(|_| EventTable::default()).collect();
    let position = usize::try_from(keeper.request.device()).ok();
    let list = position.and_then(|position| lists.get(position)).copied();
    if list != Some(std::slice::from_ref(&keeper.request.rows)) {
        return Err(part::changed());
    }
    tables[position.unwrap_or(0)] = events;
    Ok(tables)
}

/// Assembles the result of the first pass over a file.
pub(super) fn overview(
    mut builder: SnapshotBuilder,
    heap: &Heap,
    root: Val,
    encoding: Encoding,
    bytes: u64,
) -> Result<Overview, ImportError> {
    let root = read_root(&mut builder, heap, root, encoding)?;
    let lists = device_lists(&builder, heap, root.device_traces, &mut Vec::new())?;
    RowBudget::new(&builder, bytes).take_events(lists.iter().copied())?;
    let Some(watch) = builder.watch.take() else { return Ok(Overview::default()) };
    let traces = watch.traces();
    let live = last_live_bytes(&builder);
    let mut devices = Vec::new();
    for (index, &list) in lists.iter().enumerate().filter(|(_, list)| list.is_some()) {
        let index = index as i64;
        let rows = ranges(&builder, list);
        let trace = traces.iter().find(|trace| rows == std::slice::from_ref(&trace.rows));
        let Some(trace) = trace.filter(|_| !watch.is_odd()) else { return Err(part::odd_lists()) };
        let last = live.iter().find(|(device, _)| *device == index).map_or(0, |(_, bytes)| *bytes);
        let first_live_bytes = (last as i64).saturating_sub(trace.last_bytes).max(0) as u64;
        devices.push(OverviewDevice { index, trace: trace.clone(), first_live_bytes });
    }
    Ok(Overview { file_bytes: 0, devices })
}

/// Returns the live bytes at the end by device, as far as the segments have been read.
pub(super) fn last_live_bytes(builder: &SnapshotBuilder) -> Vec<(i64, u64)> {
    let mut live = BTreeMap::<i64, u64>::new();
    // By list, so that a list that segments share is summed once.
    let mut known = HashMap::new();
    for segment in &builder.segments {
        let bytes = segment.blocks.map_or(0, |list| *known.entry(list).or_insert_with(|| live_bytes(builder, list)));
        let sum = live.entry(segment.device).or_default();
        *sum = sum.saturating_add(bytes);
    }
    live.into_iter().collect()
}

fn live_bytes(builder: &SnapshotBuilder, list: u32) -> u64 {
    let blocks = builder.lists[list as usize].rows.rows().map(|row| builder.blocks[row as usize]);
    blocks.map(|block| block.placed(0, (0, 0)).live_bytes()).fold(0, u64::saturating_add)
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
    let mut addr = raw.segment.addr;
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
        let block = Block { stack, ..raw.placed(addr, (history_start, table.history.len() as u32)) };
        addr = block.addr.wrapping_add(block.size_bytes);
        table.blocks.push(block);
    }
    let blocks = (first, table.blocks.len() as u32);
    if addr != raw.segment.addr.wrapping_add(raw.segment.size_bytes) {
        untiled(diagnostics);
    }
    let sum = |active: fn(BlockState) -> bool| {
        let blocks = table.blocks[first as usize..].iter().filter(|block| active(block.state));
        blocks.map(|block| block.size_bytes).fold(0, u64::saturating_add)
    };
    table.segments.push(Segment {
        allocated_bytes: raw.allocated_bytes.unwrap_or_else(|| sum(|state| state == BlockState::Allocated)),
        active_bytes: raw.active_bytes.unwrap_or_else(|| sum(|state| state != BlockState::Inactive)),
        blocks,
        ..raw.segment
    });
}

/// Counts another segment whose blocks do not fill it.
fn untiled(diagnostics: &mut Vec<Diagnostic>) {
    const CODE: &str = "blocks-do-not-tile";
    let message = |n| {
        let segments = format::counted(n, "segment");
        format!("In {segments}, the blocks do not fill the segment exactly. Free bytes inside segments may be wrong.")
    };
    match diagnostics.iter_mut().find(|diagnostic| diagnostic.code == CODE) {
        Some(known) => {
            known.count += 1;
            known.message = message(known.count);
        }
        None => diagnostics.push(Diagnostic::new(Severity::Warning, CODE, 1, message(1))),
    }
}

fn host_device(
    builder: &SnapshotBuilder,
    root: &Root,
    rooms: BTreeMap<i64, Room>,
    events: EventTable,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Device> {
    let segments = rooms.into_values().sum::<Room>().table();
    let mut host = Device { index: -1, events, segments, part: None };
    for segment in segments_of(builder, root.host_segments) {
        place_segment(builder, segment, &mut host.segments, diagnostics);
    }
    (!host.events.is_empty() || !host.segments.segments.is_empty()).then_some(host)
}
