//! Wheel and pointer input of the plot and the minimap.

use super::director::Director;
use super::draw::minimap::Hold;
use crate::ask::Toward;
use crate::draw::{Effect, Point, Rect, Span, View, wheel_factor};
use crate::platform;
use crate::platform::Surface;
use gloo_events::EventListener;
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent, MouseEvent, PointerEvent, WheelEvent};

pub(super) fn listen(director: &Director, surface: &Surface) -> Vec<EventListener> {
    let held = Held::default();
    let (pressed, dragged, released, cancelled) = (held.clone(), held.clone(), held.clone(), held);
    let (plot, minimap) = (&surface.plot, &surface.minimap);
    vec![
        on(&surface.plot, "wheel", director, |director, event: &WheelEvent| turn(director, event)),
        on(&surface.plot, "pointerdown", director, press),
        on(&surface.plot, "pointermove", director, drag),
        on(&surface.plot, "pointerup", director, release),
        on(&surface.plot, "pointercancel", director, |director, _: &PointerEvent| {
            director.with(|stage| stage.gesture.cancel());
        }),
        on(&surface.plot, "pointerleave", director, leave),
        on(&surface.plot, "dblclick", director, |director, event: &MouseEvent| {
            director.zoom_to(point(director, event))
        }),
        on(plot, "keydown", director, key),
        on(minimap, "pointerdown", director, move |director, event| pressed.set(take_hold(director, event))),
        on(minimap, "pointermove", director, move |director, event| drag_minimap(director, event, &dragged)),
        on(minimap, "pointerup", director, move |_, _: &PointerEvent| released.set(None)),
        on(minimap, "pointercancel", director, move |_, _: &PointerEvent| cancelled.set(None)),
        on(minimap, "dblclick", director, |director, _: &MouseEvent| {
            director.with(|stage| stage.go_to(stage.camera.content().whole()));
        }),
    ]
}

fn on<E: JsCast>(
    element: &HtmlElement,
    name: &'static str,
    director: &Director,
    act: impl Fn(&Director, &E) + 'static,
) -> EventListener {
    let director = director.clone();
    platform::on_event(element, name, move |event| act(&director, event))
}

fn point(director: &Director, event: &MouseEvent) -> Point {
    let plot = director.with(|stage| stage.surface.plot.clone());
    platform::point_in(&plot, event.client_x().into(), event.client_y().into())
}

fn turn(director: &Director, event: &WheelEvent) {
    event.prevent_default();
    let at = point(director, event);
    director.with(|stage| stage.point_at(at));
    let (dx, dy) = platform::turned_px(event);
    let zooms_y = event.ctrl_key() || event.meta_key() || event.alt_key();
    director.with(|stage| {
        let (x, y) = stage.in_plot(at);
        stage.steer(|camera| {
            if zooms_y {
                camera.zoom_y(y, wheel_factor(dy));
            } else if event.shift_key() {
                // Some browsers swap the axes themselves while Shift is held.
                camera.pan(-(dx + dy), 0.0);
            } else if dx.abs() > dy.abs() {
                camera.pan(-dx, 0.0);
            } else {
                camera.zoom_x(x, wheel_factor(dy));
            }
        });
    });
}

fn press(director: &Director, event: &PointerEvent) {
    if event.button() != 0 {
        return;
    }
    let at = point(director, event);
    let plot = director.with(|stage| {
        stage.point_at(at);
        stage.gesture.press(event.pointer_id(), platform::client_point(event), event.shift_key());
        stage.surface.plot.clone()
    });
    // Capturing fails if the pointer is gone already, and then no drag follows either.
    let _ = plot.set_pointer_capture(event.pointer_id());
}

fn drag(director: &Director, event: &PointerEvent) {
    let at = point(director, event);
    let effect = director.with(|stage| {
        stage.point_at(at);
        let pointed = stage.span_at(at);
        platform::set_attribute(&stage.surface.plot, "data-over", if pointed.is_some() { "span" } else { "plot" });
        platform::set_attribute(&stage.surface.plot, "title", &pointed.map(|span| span.text).unwrap_or_default());
        stage.gesture.drag(event.pointer_id(), platform::client_point(event))
    });
    if let Some(effect) = effect {
        carry_out(director, effect);
    }
}

fn release(director: &Director, event: &PointerEvent) {
    let at = point(director, event);
    let effect = director.with(|stage| {
        stage.selection = None;
        stage.point_at(at);
        let effect = stage.gesture.release(event.pointer_id(), platform::client_point(event));
        let is_active = stage.gesture.is_active();
        show_drag(&stage.surface.plot, is_active);
        effect
    });
    if let Some(effect) = effect {
        carry_out(director, effect);
    }
}

fn leave(director: &Director, _: &PointerEvent) {
    let is_active = director.with(|stage| {
        stage.pointer = None;
        stage.gesture.is_active()
    });
    if !is_active {
        director.hovered(None);
    }
}

/// Moves from allocation to allocation while one is pinned; otherwise the page pans with the same keys.
fn key(director: &Director, event: &KeyboardEvent) {
    if event.ctrl_key() || event.alt_key() || event.meta_key() {
        return;
    }
    let has_pin = director.with(|stage| stage.shown.pinned().is_some());
    let toward = match (event.key().as_str(), event.shift_key()) {
        ("Enter", _) => {
            event.prevent_default();
            return director.enter();
        }
        ("ArrowLeft", false) => Toward::Earlier,
        ("ArrowRight", false) => Toward::Later,
        ("ArrowUp", false) => Toward::Above,
        ("ArrowDown", false) => Toward::Below,
        ("ArrowUp", true) => Toward::Larger,
        ("ArrowDown", true) => Toward::Smaller,
        _ => return,
    };
    if has_pin {
        event.prevent_default();
        director.step_allocation(toward);
    }
}

fn carry_out(director: &Director, effect: Effect) {
    let corner = director.with(|stage| platform::corner_of(&stage.surface.plot));
    match effect.within(corner) {
        Effect::Pan(dx, dy) => director.with(|stage| {
            show_drag(&stage.surface.plot, true);
            stage.steer(|camera| camera.pan(dx, dy));
        }),
        Effect::Pinch { about, x, y } => director.with(|stage| {
            let about = stage.in_plot(about);
            stage.steer(|camera| {
                camera.zoom_x(about.0, 1.0 / x);
                camera.zoom_y(about.1, 1.0 / y);
            });
        }),
        Effect::Select(rect) => director.with(|stage| {
            let (a, b) = (stage.in_plot((rect.x, rect.y)), stage.in_plot((rect.right(), rect.bottom())));
            let corner = stage.plot_corner();
            stage.selection = Some(Rect { x: corner.0 + a.0, y: corner.1 + a.1, width: b.0 - a.0, height: b.1 - a.1 });
        }),
        Effect::Selected(a, b) => director.with(|stage| {
            let view = stage.camera.view_from_box(stage.in_plot(a), stage.in_plot(b));
            stage.go_to(view);
        }),
        Effect::Click(at) => {
            if director.with(|stage| stage.is_in_plot(at)) {
                director.pin_at(at);
            } else {
                director.with(|stage| {
                    if let Some(pointed) = stage.span_at(at) {
                        // The vertical range stays.
                        stage.go_to(View { x: pointed.span, y: stage.destination().view().y });
                    }
                });
            }
        }
    }
}

fn show_drag(plot: &HtmlElement, is_active: bool) {
    platform::set_attribute(plot, "data-dragging", if is_active { "true" } else { "false" });
}

/// The dragged part of the minimap's window, with the view and the pointer's x at the start of the drag.
type Held = Rc<Cell<Option<(Hold, Span, f64)>>>;

/// Starts to drag the window, after centring it at the pointer if the pointer went down outside of it.
fn take_hold(director: &Director, event: &PointerEvent) -> Option<(Hold, Span, f64)> {
    director.with(|stage| {
        let element = stage.surface.minimap.clone();
        // As for the plot: if the pointer is gone, no drag follows either.
        let _ = element.set_pointer_capture(event.pointer_id());
        let (x, _) = platform::point_in(&element, event.client_x().into(), event.client_y().into());
        let (minimap, view) = (stage.minimap(), stage.camera.view());
        let hold = minimap.hold_at(x, view.x);
        if hold.is_none() {
            let centered = Span::around(minimap.position_from_x(x), view.x.len());
            stage.steer(|camera| camera.set_view(View { x: centered, ..view }));
        }
        Some((hold.unwrap_or(Hold::Window), stage.camera.view().x, x))
    })
}

fn drag_minimap(director: &Director, event: &PointerEvent, held: &Held) {
    director.with(|stage| {
        let element = stage.surface.minimap.clone();
        let (x, _) = platform::point_in(&element, event.client_x().into(), event.client_y().into());
        let (minimap, view) = (stage.minimap(), stage.camera.view());
        if let Some((hold, before, from)) = held.get() {
            let dragged = minimap.dragged(hold, before, x - from);
            stage.steer(|camera| camera.set_view(View { x: dragged, ..view }));
        } else {
            let name = match minimap.hold_at(x, view.x) {
                Some(Hold::Start | Hold::End) => "edge",
                Some(Hold::Window) => "window",
                None => "outside",
            };
            platform::set_attribute(&element, "data-under", name);
        }
    });
}
