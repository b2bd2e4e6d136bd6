//! Drives the stage: schedules its frames and sends requests to the Web Worker.

use super::model as texts;
use super::stage::Stage;
use crate::ask::{
    Ask, Axis, Details, FindAllocation, GetDetails, GetHit, GetMarks, GetMoments, GetOutline, GetPicture, GetPlace,
    Hit, StepAllocation, StepKind, Toward, area_by,
};
use crate::draw::{Camera, Point, Span, View};
use crate::platform;
use crate::platform::{AskError, WorkerClient};
use crate::state::{FileAction, PointAction, TimelineCommand};
use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;

/// Columns of the minimap's outline: more than any screen shows, but few enough to send quickly.
const OUTLINE_COLUMNS: u32 = 1600;

#[derive(Clone)]
pub(super) struct Director {
    stage: Rc<RefCell<Stage>>,
}

impl Director {
    pub(super) fn new(stage: Stage) -> Self {
        let director = Self { stage: Rc::new(RefCell::new(stage)) };
        director.start();
        director
    }

    /// Changes the stage and draws the change with the next frame.
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut Stage) -> T) -> T {
        let result = change(&mut self.stage.borrow_mut());
        self.draw_soon();
        result
    }

    pub(super) fn start(&self) {
        // First of all, so that it waits for no other answer.
        self.ask_picture();
        let (_, device, axis) = self.subject();
        self.ask(GetOutline { device, axis, columns: OUTLINE_COLUMNS }, |director, outline| {
            director.with(|stage| (stage.outline, stage.chart_is_due) = (outline, true));
        });
        self.ask(GetMarks { device }, |director, marks| {
            director.with(|stage| {
                stage.marks = marks;
                stage.take_parts();
            });
        });
        self.ask_pin();
        self.ask_flags();
        self.draw_soon();
    }

    /// Draws with the next animation frame, once even if called several times before it.
    fn draw_soon(&self) {
        if !std::mem::replace(&mut self.stage.borrow_mut().frame_is_due, true) {
            let director = self.clone();
            platform::on_next_frame(move |now_ms| director.draw(now_ms));
        }
    }

    fn draw(&self, now_ms: f64) {
        let (goes_on, is_new) = {
            let mut stage = self.stage.borrow_mut();
            stage.frame_is_due = false;
            let is_new = std::mem::take(&mut stage.picture_is_new);
            (stage.draw(now_ms), is_new)
        };
        // After a new picture, requests wait one more frame, which starts once the picture is on the screen. A slow
        // screen therefore causes fewer requests.
        if goes_on || is_new {
            self.draw_soon();
        }
        if !is_new {
            self.ask_picture();
        }
        self.ask_hover();
        self.tell_view();
    }

    fn tell_view(&self) {
        let told = self.stage.borrow_mut().untold_view();
        if let Some(seen) = told {
            let on_view = self.stage.borrow().props.on_view.clone();
            on_view.emit(seen);
        }
    }

    /// Acts on the file; the page may render in between, so that the stage is not borrowed.
    fn act(&self, action: FileAction) {
        let file = self.stage.borrow().file.clone();
        file.act(action);
    }

    fn subject(&self) -> (WorkerClient, u32, Axis) {
        let stage = self.stage.borrow();
        (stage.file.client.clone(), stage.shown.device.device, stage.shown.ready.axis)
    }

    /// Passes an answer on, unless the device or the axis has changed since the request.
    fn answer<T: 'static>(
        &self,
        question: impl Future<Output = Result<T, AskError>> + 'static,
        take: impl FnOnce(&Self, Result<T, AskError>) + 'static,
    ) {
        let (director, generation) = (self.clone(), self.stage.borrow().generation);
        spawn_local(async move {
            let answer = question.await;
            if director.stage.borrow().generation == generation {
                take(&director, answer);
            }
        });
    }

    /// Asks, and passes the answer on if there is one and it is still wanted.
    fn ask<Q: Ask + 'static>(&self, question: Q, take: impl FnOnce(&Self, Q::Answer) + 'static) {
        let (client, ..) = self.subject();
        self.answered(async move { client.ask(question).await }, take);
    }

    fn answered<T: 'static>(
        &self,
        question: impl Future<Output = Result<T, AskError>> + 'static,
        take: impl FnOnce(&Self, T) + 'static,
    ) {
        self.answer(question, |director, answer| {
            if let Ok(answer) = answer {
                take(director, answer);
            }
        });
    }

    fn ask_picture(&self) {
        let (next, kind) = {
            let mut stage = self.stage.borrow_mut();
            let (camera, axis) = (stage.camera, stage.shown.ready.axis);
            (stage.plan.next(&camera, axis), stage.shown.ready.kind.as_deref().cloned())
        };
        let Some((layer, asked)) = next else { return };
        let (client, device, _) = self.subject();
        self.answer(
            async move { client.picture(GetPicture { device, view: asked, kind }).await },
            move |director, answer| match answer {
                Ok(picture) => {
                    let is_first = director.with(|stage| stage.take_picture(layer, asked, picture));
                    if is_first {
                        platform::mark_when_presented("timeline-drawn");
                    }
                }
                // One that was refused would be refused again; a superseded one is asked for again.
                Err(AskError::Refused(_)) => director.stage.borrow_mut().plan.answered(layer, asked),
                Err(AskError::Superseded) => director.with(|stage| stage.plan.failed()),
                Err(AskError::Closed) => (),
            },
        );
    }

    pub(super) fn ask_pin(&self) {
        let ((_, device, axis), pinned) = (self.subject(), self.stage.borrow().shown.pinned());
        let Some((allocation, _)) = pinned else {
            self.with(|stage| stage.pin = None);
            return;
        };
        self.ask(GetDetails { device, allocation }, move |director, details| {
            director.with(|stage| stage.pin = Some(texts::lifespan(&details, axis, stage.x_end())));
        });
    }

    /// Requests what is under the cursor, one request at a time.
    fn ask_hover(&self) {
        let at = {
            let mut stage = self.stage.borrow_mut();
            let at = stage.pointer.filter(|&at| stage.is_in_plot(at) && !stage.gesture.is_active());
            if !stage.hover_is_due || stage.hover_is_asked || at.is_none() {
                return;
            }
            (stage.hover_is_due, stage.hover_is_asked) = (false, true);
            at
        };
        let Some(question) = at.map(|at| self.hit_at(at, false)) else { return };
        self.answer(question, |director, answer| {
            director.with(|stage| stage.hover_is_asked = false);
            if let Ok(hit) = answer {
                director.hovered(Some(hit));
            }
        });
    }

    /// Shows what is under the cursor and reports it to the page.
    pub(super) fn hovered(&self, hit: Option<Hit>) {
        let (changed, on_hover) = self.with(|stage| {
            let changed = stage.hit != hit;
            stage.take_hit(hit.clone());
            (changed, stage.props.on_hover.clone())
        });
        if changed {
            on_hover.emit(hit);
        }
    }

    /// Pins the allocation under a point, or unpins if there is none; selects the allocations of an area.
    pub(super) fn pin_at(&self, at: Point) {
        self.answered(self.hit_at(at, true), |director, hit| {
            director.hovered(Some(hit.clone()));
            director.act(match hit.area.as_ref().and_then(|area| area.kind.clone()) {
                Some(kind) => FileAction::SelectKind(Some(kind)),
                None => FileAction::Pin(Some(hit).filter(|hit| hit.allocation.is_some())),
            });
        });
    }

    /// Zooms to the lifetime of the allocation under a point; without one it zooms in by a factor of 2.
    pub(super) fn zoom_to(&self, at: Point) {
        let ((client, device, axis), question) = (self.subject(), self.hit_at(at, true));
        let found = async move {
            let Some(allocation) = question.await?.allocation else { return Ok(None) };
            let details = client.ask(GetDetails { device, allocation: allocation.allocation }).await?;
            Ok(Some((details, allocation.below_bytes as f64)))
        };
        self.answered(found, move |director, found| {
            director.with(|stage| {
                let mut camera = stage.camera;
                match found {
                    Some((details, below)) => {
                        camera.set_view(view_of(&details, below, camera.view(), axis, stage.x_end()))
                    }
                    None => camera.zoom_x(stage.in_plot(at).0, 0.5),
                }
                stage.go_to(camera.view());
            });
        });
    }

    pub(super) fn obey(&self, command: TimelineCommand) {
        match command {
            TimelineCommand::JumpTo { moment } => {
                let (_, device, axis) = self.subject();
                self.ask(GetPlace { device, axis, moment }, |director, position| {
                    director.with(|stage| stage.go_to(stage.camera.view_around(position)));
                });
            }
            TimelineCommand::Between { first, last } => self.show_between(first, last),
            TimelineCommand::Back => self.with(Stage::go_back),
            TimelineCommand::StepKind { is_back } => self.step_kind(is_back),
            TimelineCommand::StepAllocation(toward) => self.step_allocation(toward),
            TimelineCommand::Pin { key, moment } => {
                let (_, device, _) = self.subject();
                self.ask(FindAllocation { device, key, moment }, |director, hit| director.pin(hit));
            }
            TimelineCommand::Bookmark => self.mark(PointAction::Bookmark),
            TimelineCommand::Measure => self.mark(PointAction::Measure),
            TimelineCommand::Pan { x, y } => self.steer(|_, camera| {
                let plot = camera.plot();
                camera.pan(-x * plot.width, y * plot.height);
            }),
            TimelineCommand::Zoom { x, y } => self.steer(|stage, camera| {
                let middle = stage.plot_center();
                camera.zoom_x(middle.0, 1.0 / x);
                camera.zoom_y(middle.1, 1.0 / y);
            }),
            TimelineCommand::Reset => self.steer(|_, camera| camera.set_view(camera.content().whole())),
            TimelineCommand::JumpToPeak => self.steer(|stage, camera| {
                let peak = texts::peak_position(&stage.shown.device, stage.shown.ready.axis).unwrap_or(0.0);
                camera.set_view(View { x: camera.view_around(peak).x, y: camera.content().whole().y });
            }),
            TimelineCommand::Step { is_forward } => self.steer(|stage, camera| {
                if let Some(x) = stage.step_beside(is_forward) {
                    camera.set_view(View { x, y: camera.view().y });
                }
            }),
            TimelineCommand::Positions { first, last } => self.steer(|_, camera| {
                camera.set_view(View { x: Span::new(first, last), y: camera.content().whole().y });
            }),
        }
    }

    /// Glides to the view that a change of the camera leads to.
    fn steer(&self, change: impl FnOnce(&Stage, &mut Camera)) {
        self.with(|stage| {
            let mut camera = stage.destination();
            change(stage, &mut camera);
            stage.go_to(camera.view());
        });
    }

    fn show_between(&self, first: u32, last: u32) {
        let (client, device, axis) = self.subject();
        let places = async move {
            let place = |moment| client.ask(GetPlace { device, axis, moment });
            Ok((place(first).await?, place(last).await?))
        };
        self.answered(places, |director, (first, last)| {
            director.with(|stage| stage.go_to(stage.camera.view_between(first, last)));
        });
    }

    fn hit_at(&self, at: Point, is_click: bool) -> impl Future<Output = Result<Hit, AskError>> + use<> {
        let (client, device, axis) = self.subject();
        let stage = self.stage.borrow();
        let (camera, (x, y)) = (&stage.camera, stage.in_plot(at));
        let (units_per_px, bytes) = (camera.units_per_device_pixel(), camera.bytes_from_y(y));
        let (areas, x) = (area_by(stage.shown.ready.color()), camera.position_from_x(x));
        async move { client.ask(GetHit { device, areas, axis, x, bytes, units_per_px, is_click }).await }
    }
}

/// Returns a view of an allocation's lifetime with some margin, in which it is high enough to be seen.
fn view_of(details: &Details, below: f64, now: View, axis: Axis, x_end: f64) -> View {
    let x = texts::lifespan(details, axis, x_end).grown(0.15);
    let size = details.size_bytes as f64;
    // An allocation lower than 1/50 of the plot cannot be read; it gets 1/3 of the height.
    let y = if size < now.y.len() / 50.0 { Span::around(below + size / 2.0, size * 3.0) } else { now.y };
    View { x, y }
}

impl Director {
    /// Pins the next or previous allocation of the selected kind, or else of the pinned allocation's kind.
    fn step_kind(&self, is_back: bool) {
        let (_, device, _) = self.subject();
        let shown = self.stage.borrow().shown.clone();
        let kind = shown.ready.kind.as_deref().cloned().or_else(|| shown.ready.pinned_kind());
        let Some(kind) = kind else { return };
        let (from, moment) = (shown.pinned().map(|(allocation, _)| allocation), shown.moment().0);
        self.ask(StepKind { device, kind, from, is_back, moment }, |director, found| {
            if let Ok(Some(found)) = found {
                director.pin(found.hit);
            }
        });
    }

    /// Pins the allocation next to the pinned one, of those that are drawn by themselves.
    pub(super) fn step_allocation(&self, toward: Toward) {
        let (_, device, _) = self.subject();
        let (shown, min_bytes) = {
            let stage = self.stage.borrow();
            (stage.shown.clone(), stage.least_drawn_bytes())
        };
        let (from, moment) = (shown.pinned().map(|(allocation, _)| allocation), shown.moment().0);
        self.ask(StepAllocation { device, from, moment, toward, min_bytes }, |director, hit| {
            hit.into_iter().for_each(|hit| director.pin(hit));
        });
    }

    /// Pins the largest allocation in the middle of the view, or at the peak if that is in view.
    pub(super) fn enter(&self) {
        let (middle, peak) = {
            let stage = self.stage.borrow();
            let peak = texts::peak_position(&stage.shown.device, stage.shown.ready.axis);
            let peak = peak.filter(|&x| stage.camera.view().x.covers(Span::new(x, x)));
            let middle = (stage.plot_corner().0 + stage.plot_center().0, stage.plot_corner().1 + 1.0);
            (middle, peak.map(|_| stage.shown.device.peak_moment))
        };
        let ((client, device, _), question) = (self.subject(), self.hit_at(middle, true));
        let found = async move {
            let moment = match peak {
                Some(moment) => moment,
                None => question.await?.moment,
            };
            client.ask(StepAllocation { device, from: None, moment, toward: Toward::Larger, min_bytes: 0 }).await
        };
        self.answered(found, |director, hit| hit.into_iter().for_each(|hit| director.pin(hit)));
    }

    /// Pins an allocation that a key led to, and moves the view if it is not in sight.
    fn pin(&self, hit: Hit) {
        let ((_, device, axis), moment) = (self.subject(), hit.moment);
        let bytes = hit.allocation.as_ref().map(|found| (found.below_bytes, found.size_bytes));
        self.act(FileAction::Pin(Some(hit)));
        self.ask(GetPlace { device, axis, moment }, move |director, position| {
            if let Some((below_bytes, size_bytes)) = bytes {
                let y = Span::new(below_bytes as f64, (below_bytes + size_bytes) as f64);
                director.with(|stage| stage.reveal(position, y));
            }
        });
    }

    pub(super) fn ask_flags(&self) {
        let ((_, device, axis), flags) = (self.subject(), self.stage.borrow().props.flags.clone());
        if flags.is_empty() {
            self.with(|stage| stage.flags = Vec::new());
            return;
        }
        let moments = flags.iter().map(|flag| flag.moment).collect();
        self.ask(GetMoments { device, axis, moments }, move |director, facts| {
            // Flags that were changed meanwhile have sent a question of their own.
            if Rc::ptr_eq(&flags, &director.stage.borrow().props.flags) {
                let placed = facts.iter().map(|facts| facts.position).zip(flags.iter().cloned()).collect();
                director.with(|stage| stage.flags = placed);
            }
        });
    }

    /// Marks the moment under the pointer, or without a pointer the middle of the view; a measurement without a pointer
    /// is of the middle half of the view.
    fn mark(&self, action: fn(u32) -> PointAction) {
        let pointed = {
            let stage = self.stage.borrow();
            stage.hit.as_ref().filter(|_| stage.pointer.is_some()).map(|hit| hit.moment)
        };
        if let Some(moment) = pointed {
            self.act(FileAction::Point(action(moment)));
            return;
        }
        let is_range = action(0) == PointAction::Measure(0);
        for share in if is_range { &[0.25, 0.75][..] } else { &[0.5] } {
            let (corner, width) = self.with(|stage| (stage.plot_corner(), 2.0 * stage.plot_center().0));
            self.answered(self.hit_at((corner.0 + width * share, corner.1), true), move |director, hit| {
                director.act(FileAction::Point(action(hit.moment)));
            });
        }
    }
}
