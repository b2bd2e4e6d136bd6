//! Formats the answer of `snapscope segments` for the terminal.

use shared::base::Moment;
use shared::base::format::{address, bytes, count, counted, percent};
use shared::report::{Fragmentation, HeldSegment, Reserved, Room, SegmentUse, Segments};
use shared::trace::{PoolId, SegmentType};

use crate::commands::text;

/// Formats the segments of a file; `is_peak` is true at the peak of the reserved bytes.
pub(super) fn page(file: &str, Segments { reserved, segments, other_segments }: &Segments, is_peak: bool) -> String {
    let mut page = head(file, reserved, is_peak);
    section(&mut page, "", &part_rows(&reserved.bytes), &[1, 2]);
    section(&mut page, "Largest block available without cudaMalloc", &room_rows(&reserved.pools), &[0, 2]);
    let held = with_rest(reserved.held.iter().map(held_row).collect(), reserved.other_held);
    section(&mut page, "Segments that cannot be released although at most a quarter is in use", &held, &[0]);
    let rows = with_rest(segments.iter().map(segment_row).collect(), *other_segments);
    section(&mut page, "Segments with the most free bytes", &rows, &[0, 2, 3]);
    page
}

fn head(file: &str, Reserved { device, event, bytes: parts, .. }: &Reserved, is_peak: bool) -> String {
    let at = Moment::of_event_number(*event);
    let peak = if is_peak { ", the peak of reserved memory" } else { "" };
    let (reserved, segments) = (bytes(parts.reserved_bytes), counted(parts.segments, "segment"));
    format!("{file}\nGPU {device} · {reserved} reserved in {segments} {at}{peak}\n")
}

/// Appends a heading and aligned rows, or nothing if there are no rows.
fn section(page: &mut String, heading: &str, rows: &[Vec<String>], right: &[usize]) {
    if rows.is_empty() {
        return;
    }
    let heading = if heading.is_empty() { String::new() } else { format!("  {heading}\n") };
    *page += &format!("\n{heading}{}", text::section(rows, right));
}

fn with_rest(mut rows: Vec<Vec<String>>, others: u64) -> Vec<Vec<String>> {
    if others > 0 && !rows.is_empty() {
        rows.push(vec![format!("{} more", count(others))]);
    }
    rows
}

/// Returns a row for each part of the reserved bytes, with its definition.
fn part_rows(parts: &Fragmentation) -> Vec<Vec<String>> {
    let row = |name: &str, size_bytes: u64, meaning: &str| {
        vec![name.to_owned(), bytes(size_bytes), percent(size_bytes, parts.reserved_bytes), meaning.to_owned()]
    };
    let mut rows = vec![
        row("live", parts.live_bytes, "requested and not yet freed"),
        row("rounding", parts.rounding_bytes, "rounded sizes minus requested sizes"),
        row("unsplit", parts.unsplit_bytes, "remainders of blocks, too small to be split off"),
        row("free in used segments", parts.free_in_used_bytes, "between live blocks"),
        row("free segments", parts.free_segment_bytes, "cached, without live blocks"),
        row("longest free block", parts.largest_free_bytes, "larger requests need cudaMalloc"),
        row("empty_cache()", parts.releasable_bytes, "would release this much"),
    ];
    if parts.pending_bytes > 0 {
        rows.insert(1, row("  pending", parts.pending_bytes, "of it freed, but possibly still used by another stream"));
    }
    if parts.private_free_bytes > 0 {
        rows.push(row("free in private pools", parts.private_free_bytes, "of the free memory, for their graphs only"));
    }
    rows
}

fn room_rows(rooms: &[Room]) -> Vec<Vec<String>> {
    let row = |room: &Room| {
        vec![
            bytes(room.largest_free_bytes),
            format!("of {} free", bytes(room.free_bytes)),
            bytes(room.reserved_bytes),
            format!("in {}", counted(room.segments, "segment")),
            pool_name(room.pool, room.segment_type, room.stream),
        ]
    };
    rooms.iter().map(row).collect()
}

fn held_row(held: &HeldSegment) -> Vec<String> {
    vec![
        bytes(held.free_bytes()),
        format!("free of {}", bytes(held.size_bytes)),
        format!("at {}", address(held.addr)),
        format!("kept by {} in {}", bytes(held.used_bytes), counted(held.allocations, "allocation")),
        held.holders.first().map(|holder| holder.title.clone()).unwrap_or_default(),
    ]
}

fn segment_row(SegmentUse { segment, title, .. }: &SegmentUse) -> Vec<String> {
    vec![
        bytes(segment.size_bytes),
        format!("at {}", address(segment.addr)),
        percent(segment.used_bytes, segment.size_bytes),
        format!("largest free block {}", bytes(segment.largest_free_bytes)),
        pool_name(segment.pool, segment.segment_type, segment.stream),
        title.clone().unwrap_or_else(|| "free".to_owned()),
    ]
}

fn pool_name(PoolId(capture, handle): PoolId, segment_type: SegmentType, stream: u64) -> String {
    let size = segment_type.name();
    let pool = match (capture, handle) {
        (0, 0) => size.to_owned(),
        (0, handle) => format!("{size}, private pool {handle}"),
        (capture, handle) => format!("{size}, private pool {capture}, {handle}"),
    };
    match stream {
        0 => pool,
        stream => format!("{pool}, stream {}", address(stream)),
    }
}
