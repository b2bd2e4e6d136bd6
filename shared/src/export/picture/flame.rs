//! Draws a still flame graph of what is alive at a moment, with callers above what they called.

use super::frame::{ABOVE, MARGIN, MomentOptions, Swatch, heading};
use super::tone::{Layers, Tone};
use super::{LEAST_PX, MOST_PX, when};
use crate::analysis::{CallTree, Calls, Cut, CutContent, PathConfig, Site, Timeline, TreeConfig, cut};
use crate::base::format;
use crate::draw::flame::{GAP, ROW, box_label, box_rect, site_hue, site_label, site_name};
use crate::draw::op::Op;
use crate::draw::rect::Rect;
use crate::draw::sketch::Sketch;
use crate::draw::theme::Theme;
use crate::trace::{Device, Trace};

/// Minimum height in pixels of a row with its gap.
const LEAST_ROW: f64 = 14.0;
/// Draws what is alive at a moment by call stack; `timeline` was built from `device`.
pub fn flame_picture(
    trace: &Trace,
    (device, timeline): (&Device, &Timeline),
    options: &MomentOptions,
    theme: &Theme,
) -> Sketch {
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

    let figures = figures(&tree, &when(moment, peak), rows.saturating_sub(shown));
    let legend = [("Width shows bytes; callees are below their callers", Swatch::None)];
    let mut sketch = heading((width, height), (&options.title, &figures), &legend, theme);
    let placed = Placed { cuts: &cuts, total: tree.nodes()[0].total.weight, across, row, shown };
    if placed.total > 0 {
        placed.draw(trace, theme, &mut sketch.ops);
    }
    sketch
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
    fn draw(&self, trace: &Trace, theme: &Theme, ops: &mut Vec<Op>) {
        let mut boxes = Layers::default();
        let mut labels = Vec::new();
        for cut in self.cuts.iter().filter(|cut| cut.depth < self.shown) {
            let rect = self.place(cut);
            let Look { tone, name, place } = Look::of(trace, cut);
            boxes.add(tone, box_rect(rect));
            labels.extend(box_label(rect, (&name, &place), tone.color(theme).text_on()));
        }
        ops.extend(boxes.ops(theme));
        ops.extend(labels);
    }

    fn place(&self, cut: &Cut) -> Rect {
        let pixels = |bytes: u64| bytes as f64 / self.total as f64 * self.across;
        let (left, top) = (MARGIN + pixels(cut.start), ABOVE + f64::from(cut.depth) * self.row);
        Rect::new(left, top, pixels(cut.total.weight), self.row - GAP)
    }
}

/// Colour and label of a box.
struct Look {
    tone: Tone,
    name: String,
    place: String,
}

impl Look {
    fn of(trace: &Trace, cut: &Cut) -> Self {
        let (tone, name, place) = match cut.content {
            CutContent::Merged(count) => (Tone::Rest, format::counted(u64::from(count), "small part"), String::new()),
            CutContent::Node(Site::All) => (Tone::Initial, "All".to_owned(), format::bytes(cut.total.weight)),
            CutContent::Node(Site::NoStack) => (Tone::Initial, "No stack recorded".to_owned(), String::new()),
            CutContent::Node(Site::Frame(id)) => {
                let frame = trace.frames.get(id);
                let filename = trace.strings.get(frame.filename);
                let name = site_name(trace.strings.get(frame.name), filename);
                let hue = site_hue(&name, filename);
                let (name, place) = site_label(&name, filename, frame.line);
                (Tone::Single(hue), name, place)
            }
        };
        Self { tone, name, place }
    }
}

#[cfg(test)]
mod tests;
