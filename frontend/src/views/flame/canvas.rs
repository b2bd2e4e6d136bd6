//! Flame graph on a canvas, with its wheel, pointer and keyboard input.

use super::model::found_text;
use super::rows::Toward;
use super::stage::{FlameCanvasProps, FlameStage, Shown, Told};
use crate::ask::{FlameBoxes, FlameTree, GetBoxes, Tally};
use crate::components::setting;
use crate::draw::{Effect, Point, wheel_factor};
use crate::hooks::{use_answer, use_file, use_subject};
use crate::platform::{ResizeListener, client_point, corner_of, on_event, point_in, turned_px};
use crate::views::export::use_easel;
use gloo_events::EventListener;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{HtmlCanvasElement, HtmlElement, KeyboardEvent, MouseEvent, PointerEvent, WheelEvent};
use yew::prelude::*;

/// Shows the graph: yew renders the elements, and a [`FlameStage`] draws into them.
#[component]
pub(super) fn FlameCanvas(props: &FlameCanvasProps) -> Html {
    let (file, easel) = (use_file(), use_easel());
    let nodes = use_memo((), |()| Nodes::default());
    let running = use_mut_ref(|| None::<Running>);
    let zoom = use_state_eq(|| None::<(FlameTree, (f64, f64))>);
    // A range of one tree means nothing in another.
    let range = zoom.as_ref().filter(|(tree, _)| *tree == props.tree).map(|(_, range)| *range);
    let (client, device) = use_subject();
    let asked = (client, device, props.tree.clone(), range, props.search.to_string());
    // The previous boxes stay until the new ones arrive.
    let answer = use_answer(asked, |(client, device, tree, range, search)| async move {
        let boxes = client.ask(GetBoxes { device, tree: tree.clone(), range, search }).await?;
        Ok(boxes.map(|boxes| Rc::new((tree, boxes))))
    });
    let on_range = setting(&zoom);
    let data = answer.as_deref().and_then(|answer| answer.as_ref().ok()).cloned();
    let is_empty = data.as_ref().is_some_and(|data| total_of(&data.1).count == 0);
    let is_waiting = answer.is_none() || data.as_ref().is_some_and(|data| data.0 != props.tree);
    use_effect_with((props.on_told.clone(), answer), |(on_told, answer)| {
        if let Some(answer) = answer {
            on_told.emit(told(answer));
        }
    });
    {
        let (nodes, running) = (nodes.clone(), running.clone());
        let drawn = (props.clone(), file.scheme, easel.clone(), data);
        use_effect_with(drawn, move |(props, scheme, easel, data)| {
            let mut running = running.borrow_mut();
            if running.is_none() {
                *running = nodes.start(on_range);
            }
            // While the filter's text cannot be read, the graph shows the previous result.
            if let (Some(running), Some(data)) = (&*running, data) {
                let (props, easel, data) = (props.clone(), easel.clone(), data.clone());
                running.stage.show(Shown { props, theme: scheme.theme(), easel, data });
            }
        });
    }
    use_effect_with((easel, props.place), move |(easel, place)| {
        let (easel, place) = (easel.clone(), *place);
        move || {
            drop(running.take());
            easel.clear(place);
        }
    });
    html! {
        <div class="flame-canvas" ref={&nodes.host} data-flame="" tabindex="0" role="application"
            aria-roledescription="flame graph" aria-label={&props.label} aria-busy={is_waiting.to_string()}
            aria-keyshortcuts="ArrowUp ArrowDown ArrowLeft ArrowRight Enter Backspace">
            <canvas ref={&nodes.canvas} class="timeline-canvas" aria-hidden="true"></canvas>
            <div ref={&nodes.tooltip} class="timeline-tooltip" data-tooltip="" hidden=true aria-hidden="true">
                <strong></strong><span></span><span></span><small></small>
            </div>
            if is_empty {
                <p class="panel-empty flame-empty">{ "No allocations here" }</p>
            }
        </div>
    }
}

fn told(answer: &Result<Rc<(FlameTree, FlameBoxes)>, String>) -> Told {
    match answer {
        Ok(data) => {
            let weight = data.0.source.selection.weight;
            let found = data.1.found.map(|found| found_text(found, total_of(&data.1), weight).into());
            Told { found, error: None }
        }
        Err(message) => Told { found: None, error: Some(message.clone().into()) },
    }
}

fn total_of(boxes: &FlameBoxes) -> Tally {
    boxes.boxes.first().map_or_else(Tally::default, |all| all.total)
}

/// The elements that the stage draws into, as references that yew fills.
#[derive(Default, PartialEq)]
struct Nodes {
    host: NodeRef,
    canvas: NodeRef,
    tooltip: NodeRef,
}

impl Nodes {
    fn start(&self, on_range: Callback<Option<(FlameTree, (f64, f64))>>) -> Option<Running> {
        let host = self.host.cast::<HtmlElement>()?;
        let canvas = self.canvas.cast::<HtmlCanvasElement>()?;
        let stage = FlameStage::new(host.clone(), canvas, self.tooltip.cast::<HtmlElement>()?, on_range);
        let resize = {
            let stage = stage.clone();
            ResizeListener::new(&host, move || stage.draw_soon())
        };
        Some(Running { _listeners: listen(&stage, &host), _resize: resize, stage })
    }
}

/// The stage and its listeners, which end with the component.
struct Running {
    stage: FlameStage,
    _listeners: Vec<EventListener>,
    _resize: Option<ResizeListener>,
}

fn listen(stage: &FlameStage, host: &HtmlElement) -> Vec<EventListener> {
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
