//! State of a flame graph between renderings, and the drawing of its frames.

use super::camera::FlameCamera;
use super::draw::{FlameMarks, flame};
use super::model::{BoxText, box_text, label_of, rows, site_of};
use super::rows::{FlameRows, Toward};
use crate::ask::{FlameBoxKind, FlameBoxes, FlameTree, NameMark};
use crate::draw::{Gesture, Glide, Point, Sketch, Span, Theme, View};
use crate::platform;
use crate::state::{Rootward, Zoom};
use crate::views::export::Easel;
use gloo_timers::callback::Timeout;
use std::cell::RefCell;
use std::rc::Rc;
use web_sys::{HtmlCanvasElement, HtmlElement};
use yew::{AttrValue, Callback, Properties};

/// Time without movement after which finer boxes are requested, in milliseconds.
const REST_MS: u32 = 120;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    pub(super) tree: FlameTree,
    /// Number of the box's node; `None` if the box merges several nodes.
    pub(super) node: Option<u32>,
    /// Mark of the box's site; `None` if the box is not a site.
    pub(super) site: Option<NameMark>,
    pub(super) text: BoxText,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) found: Option<AttrValue>,
    pub(super) error: Option<AttrValue>,
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct FlameCanvasProps {
    pub(super) tree: FlameTree,
    pub(super) search: AttrValue,
    /// Mark of the line or function whose boxes are outlined, because its allocations are selected.
    #[prop_or_default]
    pub(super) outlined: Option<NameMark>,
    pub(super) rootward: Rootward,
    pub(super) label: AttrValue,
    /// Position of this drawing from the top among the drawings of the view.
    #[prop_or_default]
    pub(super) place: u8,
    /// Stored part to show; `None` for the whole graph.
    #[prop_or_default]
    pub(super) zoom: Option<Zoom>,
    #[prop_or_default]
    pub(super) on_zoom: Callback<Option<Zoom>>,
    /// Called when a box is chosen, and with `None` when none is chosen any more.
    pub(super) on_chosen: Callback<Option<Chosen>>,
    #[prop_or_default]
    pub(super) on_told: Callback<Told>,
}

#[derive(Clone, PartialEq)]
pub(super) struct Shown {
    pub(super) props: FlameCanvasProps,
    pub(super) theme: &'static Theme,
    /// Keeps what is drawn, so that it can be saved as a picture.
    pub(super) easel: Easel,
    pub(super) data: Rc<(FlameTree, FlameBoxes)>,
}

#[derive(Clone)]
pub(super) struct FlameStage {
    inner: Rc<RefCell<Inner>>,
}

/// Identity of a box that survives the arrival of finer boxes: its node, and true if others are merged into it.
type BoxKey = (u32, bool);

struct Inner {
    host: HtmlElement,
    canvas: HtmlCanvasElement,
    tooltip: HtmlElement,
    on_range: Callback<Option<(FlameTree, (f64, f64))>>,
    shown: Option<Shown>,
    rows: FlameRows,
    camera: FlameCamera,
    glide: Option<Glide>,
    history: Vec<View>,
    gesture: Gesture,
    pointer: Option<Point>,
    chosen: Option<BoxKey>,
    frame_is_due: bool,
    resting: Option<Timeout>,
    /// Part last reported to the page or asked for by it.
    told: Option<Zoom>,
    /// True once the user has moved the graph.
    ///
    /// Until then each new tree is shown at the part that the page asks for.
    is_touched: bool,
    /// True if the view was set by the page and its boxes were not requested yet.
    is_placed: bool,
}

impl FlameStage {
    pub(super) fn new(
        host: HtmlElement,
        canvas: HtmlCanvasElement,
        tooltip: HtmlElement,
        on_range: Callback<Option<(FlameTree, (f64, f64))>>,
    ) -> Self {
        let inner = Inner {
            host,
            canvas,
            tooltip,
            on_range,
            shown: None,
            rows: FlameRows::default(),
            camera: FlameCamera::default(),
            glide: None,
            history: Vec::new(),
            gesture: Gesture::default(),
            pointer: None,
            chosen: None,
            frame_is_due: false,
            resting: None,
            told: None,
            is_touched: false,
            is_placed: false,
        };
        Self { inner: Rc::new(RefCell::new(inner)) }
    }

    /// Takes over boxes; another tree starts with a new view.
    pub(super) fn show(&self, shown: Shown) {
        let (lost, moved) = {
            let mut inner = self.inner.borrow_mut();
            let lost = inner.take(shown);
            let moved = std::mem::take(&mut inner.is_placed) || inner.is_moved();
            (lost, moved)
        };
        if let Some(on_chosen) = lost {
            on_chosen.emit(None);
        }
        if moved {
            self.tell_range();
        }
        self.draw_soon();
    }

    pub(super) fn draw_soon(&self) {
        if !std::mem::replace(&mut self.inner.borrow_mut().frame_is_due, true) {
            let stage = self.clone();
            platform::on_next_frame(move |now_ms| {
                let goes_on = {
                    let mut inner = stage.inner.borrow_mut();
                    inner.frame_is_due = false;
                    inner.draw(now_ms)
                };
                if goes_on {
                    stage.draw_soon();
                }
            });
        }
    }

    pub(super) fn point_at(&self, at: Option<Point>) {
        self.inner.borrow_mut().pointer = at;
        self.draw_soon();
    }

    pub(super) fn gesture<T>(&self, change: impl FnOnce(&mut Gesture) -> T) -> T {
        change(&mut self.inner.borrow_mut().gesture)
    }

    /// Moves the view by hand; finer boxes follow when it rests.
    pub(super) fn steer(&self, change: impl FnOnce(&mut FlameCamera)) {
        let mut inner = self.inner.borrow_mut();
        let before = inner.camera.view();
        inner.glide = None;
        inner.is_touched = true;
        change(&mut inner.camera);
        if inner.camera.view() != before {
            let stage = self.clone();
            inner.resting = Some(Timeout::new(REST_MS, move || stage.tell_range()));
        }
        drop(inner);
        self.draw_soon();
    }

    pub(super) fn click(&self, at: Point) {
        let hit = self.inner.borrow().hit(at);
        hit.into_iter().for_each(|index| self.choose(index));
        self.zoom_to(hit);
    }

    pub(super) fn enter(&self) {
        let index = self.inner.borrow().chosen_index();
        self.zoom_to(index);
    }

    /// Returns to the view before the last zoom, or to the whole graph.
    ///
    /// The result is false if the history is empty and the whole graph is shown.
    pub(super) fn go_back(&self) -> bool {
        let view = {
            let mut inner = self.inner.borrow_mut();
            match inner.history.pop() {
                Some(view) => Some(view),
                None => (!inner.camera.is_whole()).then(|| inner.whole()),
            }
        };
        view.map(|view| self.go_to(view)).is_some()
    }

    /// Chooses the neighbour of the chosen box, or the root if none is chosen.
    pub(super) fn step(&self, toward: Toward) {
        let next = {
            let inner = self.inner.borrow();
            match inner.chosen_index() {
                Some(index) => inner.rows.step(index, toward),
                None => inner.rows.get(0).map(|_| 0),
            }
        };
        if let Some(index) = next {
            self.choose(index);
            let mut inner = self.inner.borrow_mut();
            let view = inner.rows.get(index).map(|found| inner.camera.view_with(found.depth));
            inner.glide = None;
            view.into_iter().for_each(|view| inner.camera.set_view(view));
        }
    }

    /// Returns true if the root is on top, as in an icicle graph.
    pub(super) fn hangs(&self) -> bool {
        self.inner.borrow().camera.rootward == Default::default()
    }

    fn choose(&self, index: u32) {
        let told = self.inner.borrow_mut().choose(index);
        told.into_iter().for_each(|(on_chosen, chosen)| on_chosen.emit(Some(chosen)));
        self.draw_soon();
    }

    fn zoom_to(&self, index: Option<u32>) {
        let Some(index) = index else { return };
        let view = {
            let mut inner = self.inner.borrow_mut();
            inner.is_touched = true;
            let Some(found) = inner.rows.get(index).copied() else { return };
            let (now, view) = (inner.camera.view(), inner.camera.view_of(found.span, found.depth));
            if now.x != view.x {
                inner.history.push(now);
            }
            view
        };
        self.go_to(view);
    }

    fn go_to(&self, view: View) {
        {
            let mut inner = self.inner.borrow_mut();
            let (from, mut target) = (inner.camera.view(), inner.camera);
            target.set_view(view);
            if platform::prefers_reduced_motion() {
                inner.camera = target;
            } else {
                inner.glide = Some(Glide::new(from, target.view(), platform::now_ms()));
            }
        }
        self.tell_range();
    }

    /// Requests the boxes for the range in view, or for the range that the view glides to.
    fn tell_range(&self) {
        let (on_range, range, zoomed) = {
            let mut inner = self.inner.borrow_mut();
            inner.resting = None;
            (inner.on_range.clone(), inner.range(), inner.zoomed())
        };
        on_range.emit(range);
        if let Some((on_zoom, zoom)) = zoomed {
            on_zoom.emit(zoom);
        }
        self.draw_soon();
    }
}

impl Inner {
    /// Takes over boxes and returns the callback to call if the chosen box is gone.
    fn take(&mut self, shown: Shown) -> Option<Callback<Option<Chosen>>> {
        let before = self.shown.take();
        let is_other = before.as_ref().is_none_or(|before| before.data.0 != shown.data.0);
        let weight = shown.data.0.source.selection.weight;
        if before.is_none_or(|before| before.data != shown.data) {
            self.rows = rows(&shown.data.1, weight);
        }
        if is_other {
            let all = shown.data.1.boxes.first().map_or(0, |all| all.total.weight);
            self.camera = FlameCamera::new(shown.props.rootward, all as f64);
            (self.glide, self.resting) = (None, None);
            self.history.clear();
        }
        self.place(&shown, is_other);
        self.camera.rootward = shown.props.rootward;
        let lost = (is_other && self.chosen.take().is_some()).then(|| shown.props.on_chosen.clone());
        self.shown = Some(shown);
        lost
    }

    fn whole(&self) -> View {
        let all = self.rows.get(0).map_or(1.0, |all| all.span.end);
        FlameCamera::new(self.camera.rootward, all).view()
    }

    fn range(&self) -> Option<(FlameTree, (f64, f64))> {
        let mut camera = self.camera;
        if let Some(glide) = &self.glide {
            camera.set_view(glide.target());
        }
        let tree = self.shown.as_ref()?.data.0.clone();
        (!camera.is_whole()).then(|| (tree, (camera.x().start, camera.x().end)))
    }

    fn hit(&self, at: Point) -> Option<u32> {
        let (row, weight) = self.camera.place_at(at)?;
        self.rows.hit(row, weight)
    }

    fn chosen_index(&self) -> Option<u32> {
        let (chosen, boxes) = (self.chosen?, &self.shown.as_ref()?.data.1.boxes);
        let key = |kind, node| (node, matches!(kind, FlameBoxKind::Merged(_)));
        boxes.iter().position(|found| key(found.kind, found.node) == chosen).map(|index| index as u32)
    }

    fn choose(&mut self, index: u32) -> Option<(Callback<Option<Chosen>>, Chosen)> {
        let Shown { props, data, .. } = self.shown.as_ref()?;
        let (tree, boxes) = (&data.0, &data.1);
        let found = boxes.boxes.get(index as usize)?;
        let is_merged = matches!(found.kind, FlameBoxKind::Merged(_));
        self.chosen = Some((found.node, is_merged));
        let chosen = Chosen {
            tree: tree.clone(),
            node: (!is_merged).then_some(found.node),
            site: site_of(boxes, index),
            text: box_text(boxes, index, tree.source.selection.weight)?,
        };
        Some((props.on_chosen.clone(), chosen))
    }

    fn draw(&mut self, now_ms: f64) -> bool {
        let Some(shown) = &self.shown else { return false };
        let size = platform::size_of_element(&self.host);
        self.camera = self.camera.fitted(size, shown.data.1.depth);
        if let Some(glide) = self.glide {
            let view = glide.at(now_ms);
            self.camera.set_view(view.unwrap_or(glide.target()));
            self.glide = self.glide.filter(|_| view.is_some());
        }
        let hovered = self.pointer.filter(|_| !self.gesture.is_active()).and_then(|at| self.hit(at));
        let kind = shown.props.outlined.and_then(|site| label_of(&shown.data.1, site));
        let is_searched = shown.data.1.found.is_some();
        let marks = FlameMarks { hovered, chosen: self.chosen_index(), kind, is_searched };
        let ops = flame(&self.rows, &self.camera, marks, shown.theme);
        platform::paint_ops(&self.canvas, size, platform::pixel_ratio(), &ops);
        shown.easel.put(shown.props.place, Sketch { ops, width: size.0, height: size.1 });
        self.draw_tooltip(hovered, size);
        self.tell_tests(kind.is_some());
        self.glide.is_some()
    }

    fn draw_tooltip(&self, hovered: Option<u32>, room: (f64, f64)) {
        let shown = self.shown.as_ref().zip(hovered);
        let text = shown.and_then(|(shown, index)| {
            let text = box_text(&shown.data.1, index, shown.data.0.source.selection.weight)?;
            let total = if text.own.is_empty() { text.total } else { format!("{}, {}", text.total, text.own) };
            Some([text.name, text.place, total, text.count])
        });
        let shown = self.pointer.zip(text.as_ref());
        let shown = shown.map(|(at, lines)| (at, room, lines.each_ref().map(String::as_str)));
        platform::place_tooltip(&self.tooltip, shown);
    }

    fn tell_tests(&self, is_outlined: bool) {
        let x = self.camera.x();
        let is_settled = self.glide.is_none() && self.resting.is_none();
        let attributes = [
            ("data-x0", x.start.to_string()),
            ("data-x1", x.end.to_string()),
            ("data-boxes", self.rows.box_count().to_string()),
            ("data-outlined", is_outlined.to_string()),
            ("data-settled", is_settled.to_string()),
        ];
        for (name, value) in attributes {
            platform::set_attribute(&self.host, name, &value);
        }
    }
}

impl Inner {
    /// Moves to the part that the page asks for, unless this stage reported it.
    ///
    /// Another part comes from outside the stage, such as the address.
    fn place(&mut self, shown: &Shown, is_other: bool) {
        let asked = shown.props.zoom;
        if asked == self.told && (!is_other || self.is_touched) {
            return;
        }
        // The element's size decides which rows can be in view.
        let size = platform::size_of_element(&self.host);
        self.camera = self.camera.fitted(size, shown.data.1.depth);
        self.camera.set_view(asked.map_or_else(|| self.whole(), view_of));
        (self.told, self.glide, self.resting) = (asked, None, None);
        self.is_placed = true;
    }

    /// Returns true if the view rests and the page does not know it yet.
    fn is_moved(&self) -> bool {
        self.resting.is_none() && self.glide.is_none() && self.zoom() != self.told
    }

    /// Returns the part in view, or the part that the view glides to, if the page does not know it yet.
    ///
    /// The callback that reports it comes first.
    fn zoomed(&mut self) -> Option<(Callback<Option<Zoom>>, Option<Zoom>)> {
        let zoom = self.zoom();
        (std::mem::replace(&mut self.told, zoom) != zoom)
            .then(|| self.shown.as_ref().map(|shown| (shown.props.on_zoom.clone(), zoom)))
            .flatten()
    }

    fn zoom(&self) -> Option<Zoom> {
        let mut camera = self.camera;
        if let Some(glide) = &self.glide {
            camera.set_view(glide.target());
        }
        let View { x, y } = camera.view();
        (!camera.is_whole() || y.start > 0.0).then_some(Zoom { start: x.start, end: x.end, row: y.start })
    }
}

/// Returns the view of a part; its last row follows from the element's height.
fn view_of(zoom: Zoom) -> View {
    View { x: Span::new(zoom.start, zoom.end), y: Span::new(zoom.row, zoom.row) }
}
