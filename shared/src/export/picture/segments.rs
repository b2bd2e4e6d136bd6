//! Draws a still map of the segments at a moment, with the blocks that tile them.

use super::drawing::{Anchor, BAND_COLORS, Drawing, Ink, Shape};
use super::frame::fitting;
use super::heading::{ABOVE, MARGIN, heading, legend};
use super::options::MomentOptions;
use super::{LEAST_PX, MOST_PX, when};
use crate::analysis::{AllocationId, Room, SegmentMap, Timeline, rooms};
use crate::base::format;
use crate::draw::segment_lines::{HEAD, LINE, Line, Piece, Run, Writer, bytes_per_line, pieces};
use crate::trace::{BlockState, Device, Trace};
use std::collections::BTreeMap;

/// Approximate height in pixels for the peak of the reserved bytes if no height is requested.
const USUAL_HEIGHT: f64 = 500.0;
/// Minimum width in pixels of a block that ends with a gap of one pixel.
const EDGED: f64 = 4.0;
/// Height in pixels of the mark on pending blocks.
const PENDING: f64 = 3.0;
/// Font size of the names of groups, in pixels.
const LETTERS: f64 = 11.5;

/// Draws the segments at a moment, by default the peak of the reserved bytes; `timeline` was built from `device`.
pub fn segments_picture(trace: &Trace, device: &Device, timeline: &Timeline, options: &MomentOptions) -> Drawing {
    let (peak, most_bytes) = timeline.reserved_peak();
    let moment = options.moment.unwrap_or(peak).min(timeline.events());
    let map = SegmentMap::at(trace, device, &timeline.allocations, moment);
    let rooms = rooms(&map);
    let width = options.width.max(LEAST_PX);
    let across = f64::from(width) - 2.0 * MARGIN;
    let plan = Plan::fitting(&map, &rooms, across, most_bytes, options.height.map(room));
    let wanted = (ABOVE + plan.height + MARGIN).ceil() as u32;
    let height = options.height.unwrap_or(wanted.min(MOST_PX)).max(LEAST_PX);

    let title = format!("{} · segments", options.title);
    let mut drawing = Drawing { width, height, title, shapes: Vec::new() };
    let shown = plan.lines.partition_point(|(top, line)| top + line_height(line) <= room(height));
    heading(&mut drawing, &figures(&map, &when(moment, peak), &plan, shown));
    let mut entries: Vec<(&str, &[Ink])> = vec![
        ("in use, by stack", &[Ink::Band(0), Ink::Band(1), Ink::Band(2)]),
        ("small blocks, merged", &[Ink::Merged(0), Ink::Merged(1), Ink::Merged(2)]),
        ("rounding and remainders", &[Ink::Rest]),
        ("free", &[Ink::Free]),
    ];
    if map.blocks.iter().any(|block| block.state == BlockState::PendingFree) {
        entries.push(("pending free", &[Ink::Reserved]));
    }
    legend(&mut drawing, &entries);
    let mut painter = Painter { map: &map, device, timeline, layers: BTreeMap::new() };
    for (top, line) in &plan.lines[..shown] {
        match line {
            Line::Head(index) => drawing.shapes.push(head(&rooms[*index], *top, across)),
            Line::Runs(runs) => runs.iter().for_each(|run| painter.run(run, *top)),
        }
    }
    drawing.shapes.extend(painter.layers.into_iter().map(|((_, ink), boxes)| Shape::Boxes { ink, boxes }));
    drawing
}

/// Returns the height of the plot in a picture of this height.
fn room(height: u32) -> f64 {
    f64::from(height.max(LEAST_PX)) - ABOVE - MARGIN
}

fn line_height(line: &Line) -> f64 {
    match line {
        Line::Head(_) => HEAD,
        Line::Runs(_) => LINE,
    }
}

fn figures(map: &SegmentMap, when: &str, plan: &Plan, shown: usize) -> String {
    let reserved: u64 = map.segments.iter().map(|segment| segment.at.size_bytes).sum();
    let free: u64 = map.segments.iter().map(|segment| segment.free_bytes()).sum();
    let text = format!(
        "{} reserved {when} in {} · {} free in them · each line is {}",
        format::bytes(reserved),
        format::counted(map.segments.len() as u64, "segment"),
        format::bytes(free),
        format::bytes(plan.bytes_per_line),
    );
    match plan.lines.len() - shown {
        0 => text,
        lines => format!("{text} · {} not shown", format::counted(lines as u64, "line")),
    }
}

/// Layout of the segments on lines.
struct Plan {
    bytes_per_line: u64,
    /// Lines, each with its top within the plot.
    lines: Vec<(f64, Line)>,
    height: f64,
}

impl Plan {
    /// Returns the finest plan that fits a height, or the coarsest one if none does.
    fn fitting(map: &SegmentMap, rooms: &[Room], across: f64, most_bytes: u64, height: Option<f64>) -> Self {
        let mut scale = bytes_per_line(most_bytes, height.unwrap_or(USUAL_HEIGHT), 0);
        loop {
            let plan = Self::new(map, rooms, across, scale);
            if height.is_none_or(|height| plan.height <= height) || scale >= most_bytes {
                return plan;
            }
            scale = scale.saturating_mul(2);
        }
    }

    fn new(map: &SegmentMap, rooms: &[Room], across: f64, bytes_per_line: u64) -> Self {
        let mut writer = Writer::new(across, bytes_per_line);
        for (index, room) in rooms.iter().enumerate() {
            writer.head(index);
            let mut before = None;
            for (position, segment) in map.segments.iter().enumerate().filter(|(_, segment)| room.has(segment)) {
                let follows_hole = before.replace(segment.home) == Some(segment.home);
                writer.segment(position as u32, segment.at.end() - segment.at.addr, follows_hole);
            }
            writer.end_line();
        }
        let (lines, height) = writer.finish();
        Self { bytes_per_line, lines, height }
    }
}

fn head(room: &Room, top: f64, across: f64) -> Shape {
    let (ink, at, size) = (Ink::Text, (MARGIN, ABOVE + top + HEAD / 2.0 + 4.0), LETTERS);
    let words = fitting(&room.title(), across, size);
    Shape::Text { ink, at, anchor: Anchor::Start, size, is_strong: true, words }
}

/// Collector of rectangles by layer and colour, the lowest layer first.
struct Painter<'a> {
    map: &'a SegmentMap,
    device: &'a Device,
    timeline: &'a Timeline,
    layers: BTreeMap<(Layer, Ink), Vec<[f64; 4]>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Ground,
    Blocks,
    Marks,
    Edges,
}

impl Painter<'_> {
    fn fill(&mut self, layer: Layer, ink: Ink, [left, top, width, height]: [f64; 4]) {
        let place = [MARGIN + left, ABOVE + top, width, height];
        self.layers.entry((layer, ink)).or_default().push(place);
    }

    fn run(&mut self, run: &Run, top: f64) {
        let Run { x, width, .. } = *run;
        if run.follows_hole && run.start == 0 && x > 0.0 {
            let dash = |index: i32| [x - 12.0 + f64::from(index) * 4.0, top + LINE / 2.0 - 0.5, 2.0, 1.0];
            (0..3).for_each(|index| self.fill(Layer::Edges, Ink::Muted, dash(index)));
        }
        self.fill(Layer::Ground, Ink::Free, [x, top, width, LINE]);
        let blocks = self.map.segments[run.segment as usize].blocks.clone();
        let addr = self.map.segments[run.segment as usize].at.addr;
        let map = self.map;
        let placed = blocks.map(|block| (block, map.blocks[block].addr - addr, map.blocks[block].size_bytes));
        let shown = placed.skip_while(|(_, start, size_bytes)| start + size_bytes <= run.start);
        pieces(run, shown).iter().for_each(|piece| self.piece(piece, top));
        let edges = [
            [x, top, width, 1.0],
            [x, top + LINE - 1.0, width, 1.0],
            [x, top + 1.0, 1.0, LINE - 2.0],
            [x + width - 1.0, top + 1.0, 1.0, LINE - 2.0],
        ];
        edges.into_iter().for_each(|edge| self.fill(Layer::Edges, Ink::Edge, edge));
    }

    fn piece(&mut self, piece: &Piece, top: f64) {
        let block = &self.map.blocks[piece.most];
        let Some(id) = block.allocation.filter(|_| !block.is_free()) else { return };
        let whole = piece.end - piece.x;
        let width = whole - if whole >= EDGED { 1.0 } else { 0.0 };
        self.fill(Layer::Blocks, self.ink(id, piece.is_merged), [piece.x, top, width, LINE]);
        let lost_bytes = block.size_bytes - block.requested_bytes;
        // Each part of a block on several lines shows its share of the lost bytes at its end.
        let lost = (lost_bytes as f64 / block.size_bytes.max(1) as f64 * whole).min(width);
        if !piece.is_merged && lost >= 1.0 {
            self.fill(Layer::Marks, Ink::Rest, [piece.x + width - lost, top, lost, LINE]);
        }
        if block.state == BlockState::PendingFree {
            self.fill(Layer::Marks, Ink::Reserved, [piece.x, top, width, PENDING]);
        }
    }

    fn ink(&self, id: AllocationId, is_merged: bool) -> Ink {
        let color = self.timeline.color(self.device, id) % BAND_COLORS;
        if is_merged { Ink::Merged(color) } else { Ink::Band(color) }
    }
}

#[cfg(test)]
mod tests;
