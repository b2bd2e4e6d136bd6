//! Texts over the plot, and the search for a free place for each.
//!
//! Texts are placed in order of importance, each next to what it names and clear of those before it. A text without a
//! free place is left out, but its mark stays.

use super::axes::{axes, lifetime};
use super::capacity::capacity;
use super::flags::{Placed, flags};
use super::initial::InitialBands;
use super::lane::Lane;
use super::markers::{Marker, markers};
use super::places::Places;
use crate::ask::{Axis, View as Asked};
use crate::draw::{Camera, Layout, Op, Span, Theme};

/// Labels of the view, except for those that follow the pointer.
#[derive(Clone, Debug)]
pub struct Labels<'a> {
    pub axis: Axis,
    pub lane: &'a Lane,
    pub markers: &'a [Marker],
    pub capacity_bytes: Option<u64>,
    /// Bands from before the trace, the request of their picture, and the text on them.
    pub initial: Option<(&'a InitialBands, &'a Asked, String)>,
    pub pin: Option<Span>,
    /// Bookmarks, the chosen event, and the measurement.
    pub flags: &'a [Placed],
}

impl Labels<'_> {
    pub fn ops(&self, camera: &Camera, layout: &Layout, theme: &Theme) -> Vec<Op> {
        let mut places = Places::new(layout.plot);
        let mut ops = axes(camera, layout, self.axis, theme, &mut places);
        ops.extend(self.lane.ops(camera, layout, theme));
        // What matters most is placed first and drawn last.
        let markers = markers(self.markers, camera, layout, theme, &mut places);
        let card = self.capacity_bytes.map(|bytes| capacity(bytes, camera, layout, theme, &mut places));
        let initial = self
            .initial
            .as_ref()
            .and_then(|(bands, asked, text)| bands.label(asked, text, camera, layout, theme, &mut places));
        ops.push(Op::Clip(layout.plot));
        ops.extend(initial);
        ops.push(Op::Unclip);
        ops.extend(self.pin.iter().flat_map(|&pin| lifetime(pin, camera, layout, theme)));
        ops.extend(flags(self.flags, camera, layout, theme, &mut places));
        ops.extend(card.into_iter().flatten());
        ops.extend(markers);
        ops
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{PartSpan, Parts, Phase, PictureData, Span as Annotated, raster};
    use crate::draw::{Content, Rect, View};
    use crate::views::timeline::draw::markers::MarkerKind;
    use crate::views::timeline::draw::stage::{GIB, asked};

    /// Widths and heights of the element, in CSS pixels.
    const SIZES: [(f64, f64); 4] = [(320.0, 240.0), (800.0, 400.0), (1600.0, 700.0), (3840.0, 1900.0)];

    /// Number of views drawn at each size.
    const VIEWS: u32 = 200;

    /// Returns numbers in `0.0..1.0` that are spread evenly over all views.
    ///
    /// They are the fractional parts of multiples of irrational numbers.
    fn shares(number: u32) -> [f64; 6] {
        [2.0_f64, 3.0, 5.0, 7.0, 11.0, 13.0].map(|prime| (f64::from(number) * prime.sqrt()).fract())
    }

    /// Returns a range of the content, of any length down to `min_len` and anywhere.
    fn range(whole: Span, min_len: f64, place: f64, length: f64) -> Span {
        // Every sixth range is the whole.
        let share = (length * 1.2 - 0.2).max(0.0);
        let len = whole.len() * (min_len / whole.len()).powf(share);
        Span::around(whole.at(place), len).confined(whole, min_len)
    }

    /// A trace with many labels, and a request of its picture.
    struct Scene {
        axis: Axis,
        content: Content,
        lane: Lane,
        markers: Vec<Marker>,
        initial: InitialBands,
        asked: Asked,
    }

    impl Scene {
        /// Creates a trace of `x_end` events or microseconds, with errors close to each other and at its peak.
        fn new(x_end: u32, axis: Axis, max_bytes: f64) -> Self {
            let content = Content { x_end: x_end.into(), min_len: 2.0, max_bytes };
            let asked = asked(axis, content.whole());
            let lane = Lane::new(&spans(x_end), Some(&parts(x_end)), 2, axis);
            Self { axis, content, lane, markers: markers(x_end.into(), max_bytes), initial: initial(), asked }
        }

        fn check(&self, view: View, capacity_bytes: u64, (width, height): (f64, f64)) {
            let layout = Layout::new(width, height, 1.0, self.lane.row_count());
            let mut camera = Camera::new(self.content, layout.plot_size());
            camera.set_view(view);
            let labels = Labels {
                axis: self.axis,
                lane: &self.lane,
                markers: &self.markers,
                capacity_bytes: Some(capacity_bytes),
                initial: Some((&self.initial, &self.asked, "18.52 GiB from before the trace".to_owned())),
                pin: None,
                flags: &[],
            };
            let ops = labels.ops(&camera, &layout, &Theme::light());
            check_ops(&ops, &layout, &format!("{view:?} on {width} x {height}"));
        }
    }

    /// Checks that all texts are inside the element and overlap no other.
    ///
    /// Texts of marks, which come after the clip, must be inside the plot.
    #[track_caller]
    fn check_ops(ops: &[Op], layout: &Layout, what: &str) {
        let of_marks = ops.iter().position(|op| matches!(op, Op::Clip(_))).expect("a clip");
        let texts = ops.iter().enumerate().filter_map(|(index, op)| Some((index, op.text_rect()?)));
        let texts: Vec<(usize, Rect)> = texts.collect();
        for (place, &(index, rect)) in texts.iter().enumerate() {
            let room = if index > of_marks { layout.plot } else { layout.outer };
            assert!(room.covers(rect), "{:?} is outside: {what}", ops[index]);
            let other = texts[..place].iter().find(|(_, other)| other.overlaps(rect));
            assert!(other.is_none(), "{:?} is on {:?}: {what}", ops[index], other.map(|&(other, _)| &ops[other]));
        }
    }

    fn spans(x_end: u32) -> Vec<Annotated> {
        let span = |index: u32| Annotated {
            name: "ProfilerStep#12".to_owned(),
            start_moment: x_end / 50 * index,
            end_moment: x_end / 50 * (index + 1),
            depth: index % 3,
            ..Annotated::default()
        };
        (0..50).map(span).collect()
    }

    fn parts(x_end: u32) -> Parts {
        let part = |index: u32| {
            let (start_moment, end_moment) = (x_end / 40 * index, x_end / 40 * (index + 1));
            PartSpan { start_moment, end_moment, ..PartSpan::default() }
        };
        let phase = |index: u32| ([Phase::Forward, Phase::Backward][index as usize % 2], part(index));
        Parts { steps: (0..30).map(part).collect(), phases: (0..30).map(phase).collect(), ..Parts::default() }
    }

    fn markers(x_end: f64, max_bytes: f64) -> Vec<Marker> {
        let oom = |share: f64| {
            let label = "out of memory: 1009.5 MiB asked".to_owned();
            Marker { position: share * x_end, bytes: 0.0, label, kind: MarkerKind::Oom }
        };
        let (position, label) = (x_end * 0.6, "peak 73.98 GiB".to_owned());
        let peak = Marker { position, bytes: max_bytes, label, kind: MarkerKind::Peak };
        let shares = [0.0, 0.3, 0.3001, 0.302, 0.45, 0.5999, 0.6, 0.61, 1.0];
        shares.into_iter().map(oom).chain([peak]).collect()
    }

    /// Returns bands in three descending steps over the whole trace.
    fn initial() -> InitialBands {
        let band = |[x0, x1, y1]: [f32; 3]| {
            let edges = [x0, x1, 0.0, y1].into_iter().flat_map(f32::to_le_bytes);
            edges.chain([raster::INITIAL, 0].into_iter().flat_map(u32::to_le_bytes)).collect::<Vec<u8>>()
        };
        let bands = [[0.0, 0.4, 0.9], [0.4, 0.8, 0.5], [0.8, 1.0, 0.3]].into_iter().flat_map(band).collect();
        InitialBands::of(&PictureData { bands, ..PictureData::default() })
    }

    #[test]
    fn no_text_is_on_another_or_outside() {
        for axis in [Axis::Events, Axis::Time] {
            for (x_end, max_bytes) in
                [(3, 900.0), (30_000, 1.5 * GIB), (120_000_000, 73.98 * GIB), (u32::MAX, 900.0 * GIB)]
            {
                let scene = Scene::new(x_end, axis, max_bytes);
                let whole = scene.content.whole();
                for number in 0..VIEWS {
                    let [x, x_len, y, y_len, card, _] = shares(number);
                    let view = View { x: range(whole.x, 2.0, x, x_len), y: range(whole.y, 256.0, y, y_len) };
                    SIZES.into_iter().for_each(|size| scene.check(view, (card * 1.3 * max_bytes) as u64, size));
                }
            }
        }
    }

    #[test]
    fn what_matters_is_written_where_there_is_room() {
        let scene = Scene::new(30_000, Axis::Events, 1.5 * GIB);
        let layout = Layout::new(1600.0, 700.0, 1.0, 0);
        let camera = Camera::new(scene.content, layout.plot_size());
        let labels = Labels {
            axis: scene.axis,
            lane: &Lane::default(),
            markers: &scene.markers[8..],
            capacity_bytes: Some(1 << 30),
            initial: Some((&scene.initial, &scene.asked, "1 GiB from before the trace".to_owned())),
            pin: None,
            flags: &[],
        };
        let ops = labels.ops(&camera, &layout, &Theme::light());
        for part in ["peak ", "out of memory", "GPU memory 1.00 GiB", "from before", "0.5 GiB", "10,000", "event"] {
            let is_there = ops.iter().any(|op| matches!(op, Op::Text { text, .. } if text.contains(part)));
            assert!(is_there, "{part} in {ops:?}");
        }
    }
}
