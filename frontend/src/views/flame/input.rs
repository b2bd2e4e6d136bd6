//! Wheel, pointer and keyboard input of a flame graph.

use super::rows::Toward;
use super::stage::FlameStage;
use crate::draw::{Effect, Point, wheel_factor};
use crate::platform::{client_point, corner_of, on_event, point_in, turned_px};
use gloo_events::EventListener;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent, MouseEvent, PointerEvent, WheelEvent};

pub(super) fn listen(stage: &FlameStage, host: &HtmlElement) -> Vec<EventListener> {
    vec![
        on(host, "wheel", stage, turn),
        on(host, "pointerdown", stage, press),
        on(host, "pointermove", stage, drag),
        on(host, "pointerup", stage, release),
        on(host, "pointercancel", stage, |stage, _, _: &PointerEvent| stage.gesture(|gesture| gesture.cancel())),
        on(host, "pointerleave", stage, |stage, _, _: &PointerEvent| stage.point_at(None)),
        on(host, "keydown", stage, key),
    ]
}

fn on<E: JsCast>(
    host: &HtmlElement,
    name: &'static str,
    stage: &FlameStage,
    act: impl Fn(&FlameStage, &HtmlElement, &E) + 'static,
) -> EventListener {
    let (stage, element) = (stage.clone(), host.clone());
    on_event(host, name, move |event| act(&stage, &element, event))
}

fn point(host: &HtmlElement, event: &MouseEvent) -> Point {
    point_in(host, event.client_x().into(), event.client_y().into())
}

fn turn(stage: &FlameStage, host: &HtmlElement, event: &WheelEvent) {
    event.prevent_default();
    let at = point(host, event);
    let (dx, dy) = turned_px(event);
    stage.steer(|camera| {
        if event.ctrl_key() || event.meta_key() {
            camera.zoom(at.0, wheel_factor(dy));
        } else if event.shift_key() {
            // Some browsers swap the axes themselves while Shift is held.
            camera.pan(-(dx + dy), 0.0);
        } else {
            camera.pan(-dx, -dy);
        }
    });
}

fn press(stage: &FlameStage, host: &HtmlElement, event: &PointerEvent) {
    if event.button() == 0 {
        stage.gesture(|gesture| gesture.press(event.pointer_id(), client_point(event), false));
        // Capturing fails if the pointer is gone already, and then no drag follows either.
        let _ = host.set_pointer_capture(event.pointer_id());
    }
}

fn drag(stage: &FlameStage, host: &HtmlElement, event: &PointerEvent) {
    stage.point_at(Some(point(host, event)));
    if let Some(effect) = stage.gesture(|gesture| gesture.drag(event.pointer_id(), client_point(event))) {
        carry_out(stage, host, effect);
    }
}

fn release(stage: &FlameStage, host: &HtmlElement, event: &PointerEvent) {
    if let Some(effect) = stage.gesture(|gesture| gesture.release(event.pointer_id(), client_point(event))) {
        carry_out(stage, host, effect);
    }
}

fn carry_out(stage: &FlameStage, host: &HtmlElement, effect: Effect) {
    match effect.within(corner_of(host)) {
        Effect::Pan(dx, dy) => stage.steer(|camera| camera.pan(dx, dy)),
        Effect::Pinch { about, x, .. } => stage.steer(|camera| camera.zoom(about.0, 1.0 / x)),
        Effect::Click(at) => stage.click(at),
        Effect::Select(_) | Effect::Selected(..) => (),
    }
}

fn key(stage: &FlameStage, _: &HtmlElement, event: &KeyboardEvent) {
    if event.ctrl_key() || event.alt_key() || event.meta_key() {
        return;
    }
    let (above, below) = if stage.hangs() { (Toward::Parent, Toward::Child) } else { (Toward::Child, Toward::Parent) };
    match event.key().as_str() {
        "ArrowUp" => stage.step(above),
        "ArrowDown" => stage.step(below),
        "ArrowLeft" => stage.step(Toward::Left),
        "ArrowRight" => stage.step(Toward::Right),
        "Enter" => stage.enter(),
        // If there is nothing to go back to, the page handles the key.
        "Escape" | "Backspace" if stage.go_back() => (),
        _ => return,
    }
    // The timeline would move as well otherwise.
    event.prevent_default();
}
