//! Writes the rows of the tables of segments at the end and of stacks.

use super::{Cell, Rows};
use crate::base::format;
use crate::export::subject::Subject;
use crate::trace::PoolId;

pub(super) const SEGMENTS: &[&str] = &[
    "device",
    "address",
    "bytes",
    "allocated_bytes",
    "active_bytes",
    "blocks",
    "segment_type",
    "stream",
    "pool",
    "is_expandable",
    "stack",
    "title",
    "frames",
];

pub(super) fn segments(subject: &Subject<'_>, row: &mut Rows<'_>) {
    for &(device, _) in subject.devices {
        for segment in &device.segments.segments {
            let (first, end) = segment.blocks;
            row(&[
                Cell::number(device.index),
                Cell::Address(segment.addr),
                Cell::number(segment.size_bytes),
                Cell::number(segment.allocated_bytes),
                Cell::number(segment.active_bytes),
                Cell::number(end - first),
                Cell::text(segment.segment_type.name()),
                if segment.stream == 0 { Cell::number(0) } else { Cell::text(format::address(segment.stream)) },
                segment.pool.map_or(Cell::Nothing, |PoolId(first, second)| Cell::text(format!("{first} {second}"))),
                segment.is_expandable.map_or(Cell::Nothing, Cell::Flag),
                Cell::stack(segment.stack),
                if segment.stack.has_frames() { Cell::text(subject.title(segment.stack)) } else { Cell::Nothing },
                Cell::Frames(segment.stack),
            ]);
        }
    }
}

pub(super) const FRAMES: &[&str] = &["stack", "depth", "name", "filename", "line"];

pub(super) fn frames(subject: &Subject<'_>, row: &mut Rows<'_>) {
    for stack in subject.trace.stacks.ids() {
        for (depth, (name, filename, line)) in subject.frames(stack).enumerate() {
            row(&[
                Cell::stack(stack),
                Cell::number(depth as i64),
                Cell::text(name),
                Cell::text(filename),
                Cell::number(line),
            ]);
        }
    }
}
