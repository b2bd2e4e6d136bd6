//! Draws a still flame graph of what is alive at a moment, with callers above what they called.

use super::frame::{ABOVE, MARGIN, MomentOptions, Swatch, heading};
use super::tone::{Layers, Tone};
use super::{LEAST_PX, MOST_PX, when};
use crate::analysis::{CallTree, Calls, Cut, CutContent, PathConfig, Site, Timeline, TreeConfig, cut};
use crate::base::format;
use crate::draw::flame::{GAP, ROW, box_label, box_rect, site_hue, site_label, site_name};
use crate::draw::{Op, Rect, Sketch, Theme};
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
            let (tone, name, place) = look(trace, cut);
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

/// Returns the colour of a box, its name and its place.
fn look(trace: &Trace, cut: &Cut) -> (Tone, String, String) {
    match cut.content {
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
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{of_moment, words};
    use super::*;
    use crate::analysis::naive;
    use crate::trace::text;

    const TRACE: &str = "
        alloc a 30MiB @relu<step<main
        alloc b 20MiB @load<main
        alloc c 50MiB @mm<step<main
        free_completed a
    ";

    fn drawn(trace: &Trace, options: &MomentOptions) -> Sketch {
        of_moment(flame_picture, trace, options)
    }

    /// Sums the widths in pixels of the boxes in a row, with their gaps.
    fn row_pixels(sketch: &Sketch, row: u32) -> f64 {
        let top = ABOVE + f64::from(row) * ROW;
        let boxes = sketch.ops.iter().flat_map(|op| match op {
            Op::Boxes { boxes, .. } => boxes.as_slice(),
            _ => &[],
        });
        boxes.filter(|rect| (rect.y - top).abs() < 0.01 && rect.width > 0.0).map(|rect| rect.width + GAP).sum()
    }

    #[test]
    fn boxes_are_named_and_the_title_has_all_bytes() {
        let trace = text::parse(TRACE).unwrap();
        let sketch =
            drawn(&trace, &MomentOptions { title: "run · GPU 0 · live".to_owned(), ..MomentOptions::default() });
        let words = words(&sketch);
        let figures = "100 MiB live at the peak, after event 2, in 3 allocations";
        for part in ["run · GPU 0 · live", figures, "All", "100 MiB", "main", "step", "load", "relu", "mm"] {
            assert!(words.contains(&part), "{part} in {words:?}");
        }
        // `load` allocates directly, so that the row below it is empty there.
        let across = 1200.0 - 2.0 * MARGIN;
        let shares = [1.0, 1.0, 1.0, 0.8].map(|share| share * across);
        for (row, pixels) in shares.into_iter().enumerate() {
            assert!((row_pixels(&sketch, row as u32) - pixels).abs() < 0.01, "row {row}");
        }
    }

    #[test]
    fn another_moment_has_its_own_bytes() {
        let trace = text::parse(TRACE).unwrap();
        for (moment, figures) in [
            (0, "0 B live before the first event in 0 allocations"),
            (4, "70.0 MiB live after event 3 in 2 allocations"),
        ] {
            let sketch = drawn(&trace, &MomentOptions { moment: Some(moment), ..MomentOptions::default() });
            assert!(words(&sketch).contains(&figures), "{:?}", words(&sketch));
        }
    }

    /// Children lie within their parents, and their bytes and the parent's own bytes add up to the parent's total.
    #[test]
    fn parts_add_up_to_their_parents() {
        for seed in 0..20 {
            let trace = naive::random_trace(seed, 400);
            let timeline = Timeline::new(&trace, &trace.devices[0]);
            let moment = timeline.live_peak().0;
            let tree = tree_at(&trace, &trace.devices[0], &timeline, moment);
            let total = tree.nodes()[0].total.weight;
            assert_eq!(total, timeline.allocations.alive_at(moment).map(|(_, bytes)| bytes).sum::<u64>());
            let across = 1e12;
            let cuts = cut(&tree, None, across);
            let placed = Placed { cuts: &cuts, total, across, row: ROW, shown: u32::MAX };
            for (index, parent) in cuts.iter().enumerate() {
                let outer = placed.place(parent);
                let children: Vec<&Cut> = cuts
                    .iter()
                    .skip(1)
                    .filter(|cut| cut.parent as usize == index && cut.depth > parent.depth)
                    .collect();
                let of_children: u64 = children.iter().map(|cut| cut.total.weight).sum();
                assert_eq!(of_children + parent.own.weight, parent.total.weight, "seed {seed}, box {index}");
                for child in children {
                    let inner = placed.place(child);
                    assert!(
                        inner.x >= outer.x - 1e-3 && inner.right() <= outer.right() + 1e-3,
                        "seed {seed}, box {index}"
                    );
                }
            }
        }
    }

    #[test]
    fn rows_without_room_are_counted() {
        let stack: Vec<String> = (0..30).map(|depth| format!("f{depth}")).collect();
        let trace = text::parse(&format!("alloc a 1MiB @{}", stack.join("<"))).unwrap();
        let whole = drawn(&trace, &MomentOptions::default());
        assert_eq!(whole.height, ABOVE + 31.0 * ROW + MARGIN);
        let small = drawn(&trace, &MomentOptions { height: Some(240), ..MomentOptions::default() });
        // Of 31 rows, (240 - 82 - 18) / 14 fit.
        let missing = "1.00 MiB live at the peak, after event 0, in 1 allocation · 21 deeper rows not shown";
        assert!(words(&small).contains(&missing), "{:?}", words(&small));
    }
}
