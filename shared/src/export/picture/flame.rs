//! Draws a still flame graph of what is alive at a moment, with callers above what they called.

use super::drawing::{Anchor, Drawing, Ink, Shape};
use super::frame::{fitting, width_of};
use super::heading::{ABOVE, MARGIN, heading, legend};
use super::options::MomentOptions;
use super::{LEAST_PX, MOST_PX, when};
use crate::analysis::{CallTree, Calls, Cut, CutContent, PathConfig, Site, Timeline, TreeConfig, cut};
use crate::base::format;
use crate::draw::flame::{site_hue, site_label, site_name};
use crate::trace::{Device, Trace};
use std::collections::BTreeMap;

/// Height in pixels of a row with its gap, if there is room.
const ROW: f64 = 20.0;
/// Minimum height in pixels of a row with its gap.
const LEAST_ROW: f64 = 14.0;
/// Gap in pixels between rows, and between boxes that are wide enough for it.
const GAP: f64 = 1.0;

/// Font size in boxes, in pixels.
const LETTERS: f64 = 11.0;
/// Space at both ends of a label, in pixels.
const PADDING: f64 = 4.0;
/// Minimum width of a box with a label, in pixels.
const LABELLED: f64 = 32.0;

/// Draws what is alive at a moment by call stack; `timeline` was built from `device`.
pub fn flame_picture(trace: &Trace, device: &Device, timeline: &Timeline, options: &MomentOptions) -> Drawing {
    let peak = timeline.live_peak().0;
    let moment = options.moment.unwrap_or(peak).min(timeline.events());
    let tree = tree_at(trace, device, timeline, moment);
    let width = options.width.max(LEAST_PX);
    let across = f64::from(width) - 2.0 * MARGIN;
    let cuts = cut(&tree, None, across);
    let rows = cuts.iter().map(|cut| cut.depth + 1).max().unwrap_or(0);
    let wanted = (ABOVE + f64::from(rows) * ROW + MARGIN) as u32;
    let height = options.height.unwrap_or(wanted.min(MOST_PX)).max(LEAST_PX);
    let room = f64::from(height) - ABOVE - MARGIN;
    let row = (room / f64::from(rows.max(1))).clamp(LEAST_ROW, ROW);
    let shown = (room / row + 1e-9) as u32;

    let title = format!("{} · live memory by stack", options.title);
    let mut drawing = Drawing { width, height, title, shapes: Vec::new() };
    heading(&mut drawing, &figures(&tree, &when(moment, peak), rows.saturating_sub(shown)));
    legend(&mut drawing, &[("Width shows bytes; callees are below their callers", &[])]);
    let placed = Placed { cuts: &cuts, total: tree.nodes()[0].total.weight, across, row, shown };
    if placed.total > 0 {
        placed.draw(trace, &mut drawing);
    }
    drawing
}

/// Builds the call tree of what is alive at a moment, as the page shows it at first.
fn tree_at(trace: &Trace, device: &Device, timeline: &Timeline, moment: u32) -> CallTree {
    let config = PathConfig { folds_runtime: true, ..PathConfig::default() };
    let allocations = &timeline.allocations;
    let alive = allocations.alive_at(moment).map(|(id, bytes)| (allocations.allocation_stack(id, device), bytes));
    CallTree::new(&Calls::new(trace, config, alive), TreeConfig::default())
}

fn figures(tree: &CallTree, when: &str, missing_rows: u32) -> String {
    let total = tree.nodes()[0].total;
    let live = format!("{} live {when} in {}", format::bytes(total.weight), format::counted(total.count, "allocation"));
    match missing_rows {
        0 => live,
        rows => format!("{live} · {} not shown", format::counted(u64::from(rows), "deeper row")),
    }
}

/// Boxes and the scale by which they are placed.
struct Placed<'a> {
    cuts: &'a [Cut],
    /// Bytes of all boxes.
    total: u64,
    /// Width in pixels of those bytes.
    across: f64,
    /// Height in pixels of a row with its gap.
    row: f64,
    /// Number of rows that fit.
    shown: u32,
}

impl Placed<'_> {
    fn draw(&self, trace: &Trace, drawing: &mut Drawing) {
        let mut boxes: BTreeMap<Ink, Vec<[f64; 4]>> = BTreeMap::new();
        let mut labels = Vec::new();
        for cut in self.cuts.iter().filter(|cut| cut.depth < self.shown) {
            let [left, top, width, height] = self.place(cut);
            let look = Look::of(trace, cut);
            let gap = if width > 3.0 { GAP } else { 0.0 };
            boxes.entry(look.ground).or_default().push([left, top, width - gap, height]);
            if width >= LABELLED {
                labels.extend(look.label([left, top, width, height]));
            }
        }
        drawing.shapes.extend(boxes.into_iter().map(|(ink, boxes)| Shape::Boxes { ink, boxes }));
        drawing.shapes.extend(labels);
    }

    fn place(&self, cut: &Cut) -> [f64; 4] {
        let pixels = |bytes: u64| bytes as f64 / self.total as f64 * self.across;
        let (left, top) = (MARGIN + pixels(cut.start), ABOVE + f64::from(cut.depth) * self.row);
        [left, top, pixels(cut.total.weight), self.row - GAP]
    }
}

/// Colour and label of a box.
struct Look {
    ground: Ink,
    text: Ink,
    name: String,
    place: String,
}

impl Look {
    fn of(trace: &Trace, cut: &Cut) -> Self {
        match cut.content {
            CutContent::Merged(count) => Self {
                ground: Ink::Rest,
                text: Ink::OnRest,
                name: format::counted(u64::from(count), "small part"),
                place: String::new(),
            },
            CutContent::Node(Site::All) => Self::grey("All", format::bytes(cut.total.weight)),
            CutContent::Node(Site::NoStack) => Self::grey("No stack recorded", String::new()),
            CutContent::Node(Site::Frame(id)) => {
                let frame = trace.frames.get(id);
                let filename = trace.strings.get(frame.filename);
                let name = site_name(trace.strings.get(frame.name), filename);
                let hue = site_hue(&name, filename);
                let (name, place) = site_label(&name, filename, frame.line);
                Self { ground: Ink::Band(hue), text: Ink::OnBand(hue), name, place }
            }
        }
    }

    fn grey(name: &str, place: String) -> Self {
        Self { ground: Ink::Initial, text: Ink::OnInitial, name: name.to_owned(), place }
    }

    /// Returns the name, truncated if necessary, and the place if both fit.
    fn label(self, [left, top, width, height]: [f64; 4]) -> Vec<Shape> {
        let room = width - 2.0 * PADDING;
        let y = top + height / 2.0 + LETTERS * 0.35;
        let (ink, size) = (self.text, LETTERS);
        let text = |x, anchor, words| Shape::Text { ink, at: (x, y), anchor, size, is_strong: false, words };
        let taken = width_of(&self.name, LETTERS) + 2.0 * PADDING + width_of(&self.place, LETTERS);
        let mut texts = Vec::new();
        let name = fitting(&self.name, room, LETTERS);
        if !name.is_empty() {
            texts.push(text(left + PADDING, Anchor::Start, name));
        }
        if !self.place.is_empty() && taken <= room {
            texts.push(text(left + width - PADDING - GAP, Anchor::End, self.place));
        }
        texts
    }
}

#[cfg(test)]
mod tests;
