//! State of the timeline between renderings, and the drawing of its frames.

use super::draw::axes;
use super::draw::flags::{Flag, Placed};
use super::draw::initial::InitialBands;
use super::draw::labels::Labels;
use super::draw::lane::{Lane, Pointed};
use super::draw::markers::Marker;
use super::draw::minimap::{self, Minimap};
use super::draw::navigation::{History, step_beside, steps_along};
use super::draw::plan::{Layer, Looks, Plan};
use super::draw::scene::{Frame, placements};
use super::model as texts;
use super::paint::Painter;
use crate::ask::raster::owners;
use crate::ask::{Axis, Hit, Kind, Marks, PictureData, View as Asked};
use crate::draw::{Camera, Content, Gesture, Glide, Layout, Point, Rect, Span, View};
use crate::hooks::{FileHandle, Seen, ShownFile};
use crate::platform;
use crate::platform::{Drawn, Surface};
use crate::state::Issued;
use std::cell::OnceCell;
use std::rc::Rc;
use yew::{Callback, Properties};

#[derive(Clone, PartialEq, Properties)]
pub struct TimelineProps {
    /// Last command of the page, executed once per number.
    pub command: Option<Issued>,
    /// Bookmarks, the chosen event, and the measurement.
    pub flags: Rc<Vec<Flag>>,
    pub on_view: Callback<Seen>,
    /// Called with what is under the pointer, and with `None` when the pointer leaves the plot.
    pub on_hover: Callback<Option<Hit>>,
}

pub(super) type Given = (FileHandle, Rc<ShownFile>, TimelineProps);

/// Height in device pixels from which pictures draw an allocation by itself.
const BAND_PX: f64 = 1.25;

/// A picture that was uploaded to the painter, with indices for looking things up in it.
#[derive(Clone, Debug)]
struct Shown {
    asked: Asked,
    picture: Rc<PictureData>,
    /// Owners of bands, looked up only under a pointer.
    owners: OnceCell<Vec<u32>>,
    initial: InitialBands,
}

impl Shown {
    fn new(asked: Asked, picture: PictureData) -> Self {
        let initial = InitialBands::of(&picture);
        Self { asked, picture: Rc::new(picture), owners: OnceCell::new(), initial }
    }

    /// Returns true if an allocation is drawn as bands of its own.
    fn has_bands_of(&self, owner: u32) -> bool {
        self.owners.get_or_init(|| owners(&self.picture.bands)).binary_search(&owner).is_ok()
    }
}

pub(super) struct Stage {
    pub(super) file: FileHandle,
    pub(super) shown: Rc<ShownFile>,
    pub(super) props: TimelineProps,
    pub(super) surface: Surface,
    pub(super) camera: Camera,
    pub(super) plan: Plan,
    pub(super) gesture: Gesture,
    pub(super) pointer: Option<Point>,
    pub(super) hit: Option<Hit>,
    pub(super) selection: Option<Rect>,
    /// Increases when the device or the axis changes; answers to older requests are dropped.
    pub(super) generation: u32,
    pub(super) frame_is_due: bool,
    pub(super) hover_is_due: bool,
    pub(super) hover_is_asked: bool,
    /// True if a picture has arrived since the last frame.
    pub(super) picture_is_new: bool,
    /// Lifetime of the pinned allocation, along the x axis.
    pub(super) pin: Option<Span>,
    pub(super) flags: Vec<Placed>,
    painter: Painter,
    layout: Layout,
    layers: [Option<Shown>; 2],
    glide: Option<Glide>,
    history: History,
    pub(super) marks: Marks,
    lane: Lane,
    markers: Vec<Marker>,
    pub(super) outline: PictureData,
    bands_are_due: bool,
    pub(super) chart_is_due: bool,
    chart_size: (f64, f64),
    was_presented: bool,
    told: Option<Seen>,
}

impl Stage {
    pub(super) fn new((file, shown, props): Given, surface: Surface, painter: Painter) -> Self {
        let mut stage = Self {
            file,
            shown,
            props,
            surface,
            painter,
            camera: Camera::default(),
            plan: Plan::default(),
            gesture: Gesture::default(),
            pointer: None,
            hit: None,
            selection: None,
            generation: 0,
            frame_is_due: false,
            hover_is_due: false,
            hover_is_asked: false,
            picture_is_new: false,
            pin: None,
            layout: Layout::default(),
            layers: [None, None],
            glide: None,
            history: History::default(),
            marks: Marks::default(),
            lane: Lane::default(),
            markers: Vec::new(),
            flags: Vec::new(),
            outline: PictureData::default(),
            bands_are_due: true,
            chart_is_due: true,
            chart_size: (0.0, 0.0),
            was_presented: false,
            told: None,
        };
        stage.start_over();
        stage
    }

    /// Takes what to draw, and returns what was drawn before.
    pub(super) fn take(&mut self, (file, shown, props): Given) -> Given {
        use std::mem::replace;
        (replace(&mut self.file, file), replace(&mut self.shown, shown), replace(&mut self.props, props))
    }

    /// Shows the whole trace of the device on the chosen axis, or the part that the page starts with.
    pub(super) fn start_over(&mut self) {
        self.generation += 1;
        self.plan = Plan::default();
        self.plan.look(self.looks());
        self.layers = [None, None];
        self.glide = None;
        self.history.clear();
        self.hit = None;
        self.pin = None;
        self.flags = Vec::new();
        self.outline = PictureData::default();
        self.chart_is_due = true;
        self.place_marks();
        self.layout = self.measured();
        self.camera = Camera::new(self.content(), self.layout.plot_size());
        if let Some(start) = self.file.range(&self.shown.ready) {
            self.camera.set_view(start);
        }
        platform::set_attribute(&self.surface.plot, "aria-label", &texts::description(&self.shown.device));
    }

    /// Makes room for the line of another card; a part that the user has zoomed to stays in view.
    pub(super) fn take_card(&mut self) {
        let (was_whole, view) = (self.camera.is_whole(), self.camera.view());
        self.camera = Camera::new(self.content(), self.layout.plot_size());
        if !was_whole {
            self.camera.set_view(view);
        }
        self.glide = None;
        self.bands_are_due = true;
    }

    fn content(&self) -> Content {
        let plain = texts::content(&self.shown.device, self.shown.ready.axis);
        texts::content_with_card(plain, self.shown.capacity_bytes())
    }

    /// Applies the steps and phases of the properties.
    pub(super) fn take_parts(&mut self) {
        self.place_marks();
        self.fit_to_element();
    }

    /// Plans pictures in the new colours, or of the new kind or pin; the present pictures stay until those arrive.
    pub(super) fn take_looks(&mut self) {
        self.plan.look(self.looks());
        self.bands_are_due = true;
        self.chart_is_due = true;
    }

    fn looks(&self) -> Looks {
        let (scheme, pinned, ready) = (self.file.scheme, self.shown.pinned(), &self.shown.ready);
        Looks { color: ready.color(), scheme, kind: ready.kind.as_deref().map(Kind::number), pinned }
    }

    fn place_marks(&mut self) {
        let Marks { spans, awaits_steps, awaits_phases, .. } = &self.marks;
        let awaited = usize::from(*awaits_steps) + usize::from(*awaits_phases);
        let (parts, axis) = (self.shown.ready.shown_parts().map(|parts| &**parts), self.shown.ready.axis);
        self.lane = Lane::new(spans, parts, awaited, axis);
        self.markers = texts::markers(&self.shown.device, &self.marks, axis);
    }

    /// Stores a requested picture and returns true if it is the first one ever.
    pub(super) fn take_picture(&mut self, layer: Layer, asked: Asked, (picture, image): Drawn) -> bool {
        self.plan.answered(layer, asked);
        let shown = Shown::new(asked, picture);
        self.painter.take(layer, &shown.picture, image);
        self.layers[layer.index()] = Some(shown);
        self.bands_are_due = true;
        self.picture_is_new = true;
        !std::mem::replace(&mut self.was_presented, true)
    }

    /// Adapts to the element's size and the screen's pixel ratio; a plot that is folded away keeps its layout.
    pub(super) fn fit_to_element(&mut self) {
        let chart_size = platform::size_of_element(&self.surface.minimap);
        self.chart_is_due |= std::mem::replace(&mut self.chart_size, chart_size) != chart_size;
        let layout = self.measured();
        if layout != self.layout && layout.outer.width > 0.0 {
            self.layout = layout;
            self.camera = self.camera.resized(layout.plot_size());
            self.bands_are_due = true;
            self.chart_is_due = true;
        }
    }

    fn measured(&self) -> Layout {
        let (width, height) = platform::size_of_element(&self.surface.plot);
        Layout::new(width, height, platform::pixel_ratio(), self.lane.row_count())
    }

    /// Draws everything again, because the browser has forgotten what it drew.
    pub(super) fn repaint(&mut self) {
        self.painter.color_again();
        self.bands_are_due = true;
        self.chart_is_due = true;
    }

    /// Returns the view if it is at rest and the page does not know it yet.
    pub(super) fn untold_view(&mut self) -> Option<Seen> {
        let range = (!self.camera.is_whole()).then(|| self.camera.view());
        let can_go_back = !self.history.is_empty();
        let seen = Seen { device: self.shown.device.device, axis: self.shown.ready.axis, range, can_go_back };
        (self.glide.is_none() && self.told.replace(seen) != Some(seen)).then_some(seen)
    }

    pub(super) fn plot_center(&self) -> Point {
        (self.layout.plot.width / 2.0, self.layout.plot.height / 2.0)
    }

    pub(super) fn plot_corner(&self) -> Point {
        (self.layout.plot.x, self.layout.plot.y)
    }

    pub(super) fn x_end(&self) -> f64 {
        self.camera.content().x_end
    }

    /// Converts a point of the element to the plot, clamped to the plot's edges.
    pub(super) fn in_plot(&self, (x, y): Point) -> Point {
        let plot = self.layout.plot;
        ((x - plot.x).clamp(0.0, plot.width), (y - plot.y).clamp(0.0, plot.height))
    }

    pub(super) fn is_in_plot(&self, (x, y): Point) -> bool {
        self.layout.plot.contains(x, y)
    }

    pub(super) fn span_at(&self, at: Point) -> Option<Pointed> {
        self.lane.span_at(at, &self.camera, &self.layout)
    }

    /// Returns the step after, or before, the view in which the camera is or will be.
    pub(super) fn step_beside(&self, is_forward: bool) -> Option<Span> {
        let steps = steps_along(self.shown.ready.shown_parts().map(|parts| &**parts)?, self.shown.ready.axis);
        let camera = self.destination();
        step_beside(&steps, camera.view().x, camera.content().whole().x, is_forward)
    }

    pub(super) fn minimap(&self) -> Minimap {
        let (width, _) = platform::size_of_element(&self.surface.minimap);
        Minimap { width: width.max(1.0), whole: self.camera.content().whole().x }
    }

    pub(super) fn point_at(&mut self, at: Point) {
        self.pointer = Some(at);
        self.hover_is_due = true;
    }

    /// Moves the camera by hand, and records the view before in the history.
    pub(super) fn steer(&mut self, change: impl FnOnce(&mut Camera)) {
        let before = self.camera.view();
        self.glide = None;
        change(&mut self.camera);
        if self.camera.view() != before {
            self.history.leave(before, platform::now_ms());
            self.bands_are_due = true;
        }
    }

    pub(super) fn go_to(&mut self, view: View) {
        self.history.leave(self.camera.view(), platform::now_ms());
        self.glide_to(view);
    }

    /// Returns the size from which an allocation is drawn by itself at the present zoom.
    pub(super) fn least_drawn_bytes(&self) -> u64 {
        let plot = self.camera.plot();
        (self.camera.view().y.len() / plot.device_height() * BAND_PX) as u64
    }

    /// Moves the view so that a position and a range of bytes are in sight; the zoom stays.
    pub(super) fn reveal(&mut self, position: f64, bytes: Span) {
        let now = self.destination().view();
        let x = if (now.x.start..=now.x.end).contains(&position) { now.x } else { Span::around(position, now.x.len()) };
        let middle = bytes.center();
        let y = if (now.y.start..=now.y.end).contains(&middle) { now.y } else { Span::around(middle, now.y.len()) };
        if (View { x, y }) != now {
            self.go_to(View { x, y });
        }
    }

    pub(super) fn go_back(&mut self) {
        if let Some(view) = self.history.back() {
            self.glide_to(view);
        }
    }

    /// Returns the camera as it is, or as it will be after the glide.
    pub(super) fn destination(&self) -> Camera {
        let mut camera = self.camera;
        if let Some(glide) = &self.glide {
            camera.set_view(glide.target());
        }
        camera
    }

    fn glide_to(&mut self, view: View) {
        let view = self.camera.confined(view);
        if platform::prefers_reduced_motion() {
            self.camera.set_view(view);
        } else {
            self.glide = Some(Glide::new(self.camera.view(), view, platform::now_ms()));
        }
        self.bands_are_due = true;
    }

    pub(super) fn draw(&mut self, now_ms: f64) -> bool {
        self.fit_to_element();
        if let Some(glide) = self.glide {
            let view = glide.at(now_ms);
            self.camera.set_view(view.unwrap_or(glide.target()));
            self.glide = self.glide.filter(|_| view.is_some());
            self.bands_are_due = true;
        }
        // Until a picture arrives, the last one stays on the canvas instead of a blank flash.
        if std::mem::take(&mut self.bands_are_due) && self.layers.iter().any(Option::is_some) {
            self.draw_bands();
            self.tell_tests();
            // Another part of the trace may be under the cursor now.
            self.hover_is_due = true;
        }
        self.draw_overlay();
        self.draw_minimap();
        self.glide.is_some()
    }

    fn draw_bands(&mut self) {
        let [overview, detail] = self.layers.each_ref().map(|layer| layer.as_ref().map(|shown| &shown.asked));
        let placements = placements(&self.camera, overview, detail);
        let [hovered, pinned] = self.marked();
        let theme = self.file.scheme.theme();
        self.painter.paint(&Frame { layout: &self.layout, placements, theme, hovered, pinned });
    }

    /// Returns the allocations under the cursor and pinned, each only if it has bands of its own.
    ///
    /// Merged allocations and those from before the trace have none, and marking one must not dim everything else.
    fn marked(&self) -> [Option<u32>; 2] {
        let hovered = self.hit.as_ref().and_then(|hit| hit.allocation.as_ref()).map(|found| found.allocation);
        let has_bands = |owner: &u32| self.layers.iter().flatten().any(|shown| shown.has_bands_of(*owner));
        let pinned = self.shown.pinned().map(|(allocation, _)| allocation);
        [hovered.filter(has_bands), pinned.filter(has_bands)]
    }

    fn draw_overlay(&self) {
        let (camera, layout, theme) = (&self.camera, &self.layout, self.file.scheme.theme());
        let labels = Labels {
            axis: self.shown.ready.axis,
            lane: &self.lane,
            markers: &self.markers,
            capacity_bytes: self.shown.capacity_bytes(),
            initial: self
                .sharpest()
                .map(|shown| (&shown.initial, &shown.asked, texts::initial_label(&self.shown.device))),
            pin: self.pin,
            flags: &self.flags,
        };
        let mut ops = labels.ops(camera, layout, theme);
        let cursor = self.pointer.filter(|&at| self.is_in_plot(at) && !self.gesture.is_active());
        if let Some(at) = cursor {
            let shown = self.hit.as_ref().map(|hit| hit.moment);
            ops.extend(axes::crosshair(at, shown, camera, layout, (self.shown.ready.axis, theme)));
            ops.extend(self.hit.as_ref().and_then(|hit| axes::bracket(at, hit, camera, layout, theme)));
        }
        ops.extend(self.selection.iter().flat_map(|&rect| axes::selection(rect, theme)));
        let size = (layout.outer.width, layout.outer.height);
        platform::paint_ops(&self.surface.overlay, size, layout.pixel_ratio, &ops);
        self.draw_tooltip(cursor);
    }

    fn draw_tooltip(&self, cursor: Option<Point>) {
        let text = self.hit.as_ref().map(|hit| texts::tooltip(hit, self.shown.ready.axis));
        let shown = cursor.zip(text.as_ref()).map(|(at, text)| {
            let room = (self.layout.outer.width, self.layout.outer.height);
            (at, room, [text.title.as_str(), &text.name, &text.detail, &text.moment])
        });
        platform::place_tooltip(&self.surface.tooltip, shown);
    }

    fn draw_minimap(&mut self) {
        let size = platform::size_of_element(&self.surface.minimap);
        if std::mem::take(&mut self.chart_is_due) {
            let theme = self.file.scheme.theme();
            let ops = minimap::outline(&self.outline.live, &self.outline.reserved, theme).plotted(size, theme).ops;
            platform::paint_ops(&self.surface.chart, size, self.layout.pixel_ratio, &ops);
        }
        let window = self.minimap().window(self.camera.view().x);
        platform::place_window(&self.surface.window, window.start, window.end);
    }

    fn sharpest(&self) -> Option<&Shown> {
        let [overview, detail] = &self.layers;
        detail.as_ref().filter(|_| !self.camera.is_whole()).or(overview.as_ref())
    }

    fn tell_tests(&self) {
        let (View { x, y }, sharpest) = (self.camera.view(), self.sharpest());
        let is_marked = sharpest.is_some_and(|shown| shown.asked.marking.kind.is_some());
        let is_settled = self.plan.is_settled(&self.camera, self.shown.ready.axis) && self.glide.is_none();
        let is_time = self.shown.ready.axis == Axis::Time;
        let attributes = [
            ("data-x0", x.start.to_string()),
            ("data-x1", x.end.to_string()),
            ("data-y0", y.start.to_string()),
            ("data-y1", y.end.to_string()),
            ("data-axis", if is_time { "time" } else { "events" }.to_owned()),
            ("data-bands", sharpest.map_or(0, |shown| shown.picture.band_count()).to_string()),
            ("data-marked", is_marked.to_string()),
            ("data-settled", is_settled.to_string()),
        ];
        for (name, value) in attributes {
            platform::set_attribute(&self.surface.plot, name, &value);
        }
    }

    /// Stores the hit; the bands are drawn again if it changes what is highlighted.
    pub(super) fn take_hit(&mut self, hit: Option<Hit>) {
        let before = self.marked();
        self.hit = hit;
        self.bands_are_due |= self.marked() != before;
    }
}
