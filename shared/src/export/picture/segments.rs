//! Draws a still map of the segments at a moment, with the blocks that tile them.

use super::frame::{ABOVE, MARGIN, MomentOptions, Swatch, heading};
use super::tone::{Layers, Tone};
use super::{LEAST_PX, MOST_PX, when};
use crate::analysis::{Room, SegmentMap, Timeline, rooms};
use crate::base::format;
use crate::draw::segment_lines::{HEAD, LINE, Line, Piece, Run, Writer, bytes_per_line, pieces};
use crate::draw::segment_parts::{Content, Part, head, piece_parts, run_parts};
use crate::draw::{Point, Sketch, Theme};
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
    let [reserved, free, line] = [reserved, free, plan.bytes_per_line].map(format::bytes);
    let segments = format::counted(map.segments.len() as u64, "segment");
    let text = format!("{reserved} reserved {when} in {segments} · {free} free in them · each line is {line}");
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
mod tests {
    use super::super::tests::{THEME, is_single, of_moment, words};
    use super::*;
    use crate::draw::{Color, Op};
    use crate::trace::text;

    const TRACE: &str = "
        segment_alloc 0x10000000 20MiB
        alloc 0x10000000 2MiB @f<main
        alloc 0x10200000 3MiB @g<main
        segment_alloc 0x20000000 10MiB
        free_requested 0x10000000
        segment_free 0x20000000 10MiB
        alloc 0x30000000 512
        free 0x30000000
        segment 0x10000000 20MiB
        block 0x10000000 2MiB pending
        block 0x10200000 3MiB
    ";

    fn drawn(trace: &Trace, options: &MomentOptions) -> Sketch {
        of_moment(segments_picture, trace, options)
    }

    /// Sums the widths of the boxes of some colours that are as high as a line and below the legend.
    fn pixels(sketch: &Sketch, is_meant: impl Fn(Color) -> bool) -> f64 {
        let of = |op: &Op| match op {
            Op::Boxes { color, boxes } if is_meant(*color) => {
                boxes.iter().filter(|rect| rect.y >= ABOVE && rect.height == LINE).map(|rect| rect.width).sum()
            }
            _ => 0.0,
        };
        sketch.ops.iter().map(of).sum()
    }

    #[test]
    fn segments_are_as_long_as_their_bytes() {
        let trace = text::parse(TRACE).unwrap();
        let options = MomentOptions { title: "run · GPU 0 · segments".to_owned(), ..MomentOptions::default() };
        let sketch = drawn(&trace, &options);
        let words = words(&sketch);
        let figures = "30.0 MiB reserved at the peak, after event 3, in 2 segments · 25.0 MiB free in them · each line is 2.00 MiB";
        let group = "Large blocks · 30.0 MiB in 2 segments · 25.0 MiB free, longest 15.0 MiB";
        for part in ["run · GPU 0 · segments", figures, group] {
            assert!(words.contains(&part), "{part} in {words:?}");
        }
        let line = 1200.0 - 2.0 * MARGIN;
        assert!(
            (pixels(&sketch, |color| color == Tone::Free.color(&THEME)) - 15.0 * line).abs() < 0.01,
            "30 MiB on lines of 2"
        );
        // One block lies on one line and one on two; each of the three boxes is a pixel shorter than its bytes.
        let used = pixels(&sketch, is_single);
        assert!((used - (2.5 * line - 3.0)).abs() < 0.01, "{used}");
    }

    #[test]
    fn a_pending_block_is_marked_and_explained() {
        let trace = text::parse(TRACE).unwrap();
        let is_marked = |moment| {
            let sketch = drawn(&trace, &MomentOptions { moment: Some(moment), ..MomentOptions::default() });
            let mark = |op: &Op| match op {
                Op::Boxes { boxes, color } => *color == THEME.reserved && boxes.iter().any(|rect| rect.y >= ABOVE),
                _ => false,
            };
            (sketch.ops.iter().any(mark), words(&sketch).contains(&"pending free"))
        };
        assert_eq!((is_marked(4), is_marked(99)), ((false, false), (true, true)));
    }

    #[test]
    fn a_picture_of_a_height_has_the_finest_scale_that_fits() {
        let trace = text::parse(TRACE).unwrap();
        let scale = |height| {
            let sketch = drawn(&trace, &MomentOptions { height: Some(height), ..MomentOptions::default() });
            let words = words(&sketch).join(" ");
            assert!(!words.contains("not shown"), "{words}");
            words.split_once("each line is ").map(|(_, rest)| rest.split(" M").next().unwrap().to_owned())
        };
        assert_eq!((scale(240), scale(900)), (Some("8.00".to_owned()), Some("2.00".to_owned())));
    }
}
