//! Draws a still map of the segments at a moment, with the blocks that tile them.

use super::frame::{ABOVE, MARGIN, MomentOptions, Swatch, heading};
use super::tone::{Layers, Tone};
use super::{LEAST_PX, MOST_PX, when};
use crate::analysis::{Room, SegmentMap, Timeline, rooms};
use crate::base::format;
use crate::draw::op::Point;
use crate::draw::segment_lines::{HEAD, LINE, Line, Piece, Run, Writer, bytes_per_line, pieces};
use crate::draw::segment_parts::{Content, Part, head, piece_parts, run_parts};
use crate::draw::sketch::Sketch;
use crate::draw::theme::Theme;
use crate::trace::{BlockState, Device, Trace};

/// Approximate height in pixels for the peak of the reserved bytes if no height is requested.
const USUAL_HEIGHT: f64 = 500.0;

/// Draws the segments at a moment, by default the peak of the reserved bytes; `timeline` was built from `device`.
pub fn segments_picture(
    trace: &Trace,
    (device, timeline): (&Device, &Timeline),
    options: &MomentOptions,
    theme: &Theme,
) -> Sketch {
    let (peak, most_bytes) = timeline.reserved_peak();
    let moment = options.moment.unwrap_or(peak).min(timeline.events());
    let map = SegmentMap::at(trace, device, &timeline.allocations, moment);
    let rooms = rooms(&map);
    let width = options.width.max(LEAST_PX);
    let across = f64::from(width) - 2.0 * MARGIN;
    let plan = Plan::fitting(&map, &rooms, across, most_bytes, options.height.map(room));
    let wanted = (ABOVE + plan.height + MARGIN).ceil() as u32;
    let height = options.height.unwrap_or(wanted.min(MOST_PX)).max(LEAST_PX);

    let shown = plan.lines.partition_point(|(top, line)| top + line_height(line) <= room(height));
    let figures = figures(&map, &when(moment, peak), &plan, shown);
    let mut sketch = heading((width, height), (&options.title, &figures), &entries(&map, theme), theme);
    let mut painter = Painter { map: &map, device, timeline, layers: Layers::default() };
    for (top, line) in &plan.lines[..shown] {
        let origin = (MARGIN, ABOVE + top);
        match line {
            Line::Head(index) => sketch.ops.push(head(&rooms[*index].title(), origin, across, theme)),
            Line::Runs(runs) => runs.iter().for_each(|run| painter.run(run, origin)),
        }
    }
    sketch.ops.extend(painter.layers.ops(theme));
    sketch
}

/// Returns the entries of the legend.
fn entries(map: &SegmentMap, theme: &Theme) -> Vec<(&'static str, Swatch)> {
    let one = |tone: Tone| Swatch::Stripes(vec![tone.color(theme)]);
    let mut entries = vec![
        ("in use, by stack", Swatch::Stripes(Tone::samples(false, theme))),
        ("small blocks, merged", Swatch::Stripes(Tone::samples(true, theme))),
        ("rounding and remainders", one(Tone::Rest)),
        ("free", one(Tone::Free)),
    ];
    if map.blocks.iter().any(|block| block.state == BlockState::PendingFree) {
        entries.push(("pending free", one(Tone::Pending)));
    }
    entries
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

/// Returns the tone of a part; `block` is that of blocks in use.
fn tone(part: Part, block: Tone) -> Tone {
    match part {
        Part::Ground => Tone::Free,
        Part::Block => block,
        Part::Lost => Tone::Rest,
        Part::Pending => Tone::Pending,
        Part::Edge => Tone::Rim,
        Part::Hole => Tone::Hole,
    }
}

/// Collector of the rectangles of all runs.
struct Painter<'a> {
    map: &'a SegmentMap,
    device: &'a Device,
    timeline: &'a Timeline,
    layers: Layers,
}

impl Painter<'_> {
    fn run(&mut self, run: &Run, origin: Point) {
        for (part, rect) in run_parts(run, origin) {
            self.layers.add(tone(part, Tone::Free), rect);
        }
        let segment = &self.map.segments[run.segment as usize];
        let map = self.map;
        let place = |block: usize| (block, map.blocks[block].addr - segment.at.addr, map.blocks[block].size_bytes);
        let shown = segment.blocks.clone().map(place).skip_while(|(_, start, size)| start + size <= run.start);
        pieces(run, shown).iter().for_each(|piece| self.piece(piece, origin));
    }

    fn piece(&mut self, piece: &Piece, origin: Point) {
        let block = &self.map.blocks[piece.most];
        let Some(id) = block.allocation.filter(|_| !block.is_free()) else { return };
        let content = Content {
            size_bytes: block.size_bytes,
            requested_bytes: block.requested_bytes,
            is_pending: block.state == BlockState::PendingFree,
        };
        let block = Tone::of_number(self.timeline.color(self.device, id), piece.is_merged);
        for (part, rect) in piece_parts(piece, content, origin) {
            self.layers.add(tone(part, block), rect);
        }
    }
}

#[cfg(test)]
mod tests;
