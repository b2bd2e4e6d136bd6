//! Formats the answer of `snapscope segments` for the terminal.

use std::fmt::Write as _;

use shared::analysis::{Fragmentation, Held, MapSegment, Room};
use shared::base::format::{address, bytes, count, counted, percent};
use shared::trace::{PoolId, SegmentType};

use super::Found;
use crate::commands::text;
use shared::base::Moment;

pub(super) fn page(found: &Found<'_>) -> String {
    let mut page = head(found);
    section(&mut page, "", &part_rows(&found.parts), &[1, 2]);
    section(&mut page, "Largest block available without cudaMalloc", &room_rows(&found.rooms), &[0, 2]);
    let held: Vec<_> = found.held.iter().take(found.top).map(|held| held_row(found, held)).collect();
    let held = with_rest(held, found.held.len(), found.top);
    section(&mut page, "Segments that cannot be released although at most a quarter is in use", &held, &[0]);
    let (segments, _) = found.segments();
    let rows = segments.into_iter().map(|segment| segment_row(found, segment)).collect();
    let rows = with_rest(rows, found.map.segments.len(), found.top);
    section(&mut page, "Segments with the most free bytes", &rows, &[0, 2, 3]);
    page
}

fn head(found: &Found<'_>) -> String {
    let at = Moment(found.map.moment);
    let peak = if found.is_peak { ", the peak of reserved memory" } else { "" };
    let (reserved, segments) = (bytes(found.parts.reserved_bytes), counted(found.parts.segments, "segment"));
    format!("{}\nGPU {} · {reserved} reserved in {segments} {at}{peak}\n", found.file, found.device.index)
}

/// Appends a heading and aligned rows, or nothing if there are no rows.
fn section(page: &mut String, heading: &str, rows: &[Vec<String>], right: &[usize]) {
    if rows.is_empty() {
        return;
    }
    page.push('\n');
    if !heading.is_empty() {
        let _ = writeln!(page, "  {heading}");
    }
    for line in text::table(rows, right) {
        let _ = writeln!(page, "  {line}");
    }
}

fn with_rest(mut rows: Vec<Vec<String>>, all: usize, top: usize) -> Vec<Vec<String>> {
    if all > top && !rows.is_empty() {
        rows.push(vec![format!("{} more", count((all - top) as u64))]);
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

fn held_row(found: &Found<'_>, held: &Held) -> Vec<String> {
    let segment = &found.map.segments[held.segment];
    let title = held.holders.first().map(|&id| found.title(id)).unwrap_or_default();
    vec![
        bytes(held.free_bytes),
        format!("free of {}", bytes(segment.at.size_bytes)),
        format!("at {}", address(segment.at.addr)),
        format!("kept by {} in {}", bytes(held.used_bytes), counted(held.holders.len() as u64, "allocation")),
        title,
    ]
}

fn segment_row(found: &Found<'_>, segment: &MapSegment) -> Vec<String> {
    let pool = segment.at.pool.unwrap_or_default();
    vec![
        bytes(segment.at.size_bytes),
        format!("at {}", address(segment.at.addr)),
        percent(segment.used_bytes, segment.at.size_bytes),
        format!("largest free block {}", bytes(segment.largest_free_bytes)),
        pool_name(pool, segment.at.segment_type, segment.at.stream),
        found.largest_title(segment).unwrap_or_else(|| "free".to_owned()),
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
