//! Map of segments: a canvas behind a scroller that takes the pointer and the keys.

use super::draw::{Direction, MapPlan, MapScene, bytes_per_line, ops};
use super::model::block_lines;
use crate::ask::{AllocationKey, SegmentsData};
use crate::components::bound;
use crate::draw::{Rect, Sketch, Theme};
use crate::hooks::{FileHandle, use_file, use_shown};
use crate::platform;
use crate::platform::ResizeListener;
use crate::state::{FileAction, SegmentsChoice};
use crate::views::compare::hook::{DeviceOf, find_allocation};
use crate::views::export::{Easel, use_easel};
use shared::report::Room;
use std::rc::Rc;
use web_sys::{HtmlCanvasElement, HtmlElement};
use yew::prelude::*;

/// Margin on the left and the right of the map, in CSS pixels.
const MARGIN: f64 = 12.0;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct MapProps {
    pub(super) data: Rc<SegmentsData>,
    pub(super) choice: SegmentsChoice,
    pub(super) focus: Option<usize>,
    pub(super) pinned: Option<AllocationKey>,
    pub(super) on_focus: Callback<usize>,
}

/// The elements that the map draws into, as references that yew fills.
#[derive(Clone, Default, PartialEq)]
struct Nodes {
    canvas: NodeRef,
    scroller: NodeRef,
    spacer: NodeRef,
    tooltip: NodeRef,
}

#[component]
pub(super) fn Map(props: &MapProps) -> Html {
    let (file, shown, easel) = (use_file(), use_shown(), use_easel());
    let nodes = (*use_memo((), |()| Nodes::default())).clone();
    let view = use_state_eq(Rect::default);
    let hovered = use_state_eq(|| None::<usize>);
    use_effect_with((), {
        let (scroller, view) = (nodes.scroller.clone(), view.setter());
        move |()| {
            view.set(measured(&scroller));
            let element = scroller.cast::<HtmlElement>();
            let listener =
                element.and_then(|element| ResizeListener::new(&element, move || view.set(measured(&scroller))));
            move || drop(listener)
        }
    });
    let scale = bytes_per_line(shown.device.summary.peak_reserved_bytes, view.height, props.choice.scale);
    let width = (view.width - 2.0 * MARGIN).max(1.0);
    let plan =
        use_memo((props.data.clone(), width.to_bits(), scale), |(data, _, scale)| MapPlan::new(data, width, *scale));
    let hovering = (hovered.setter(), nodes.clone(), plan.clone(), props.data.clone());
    let on_hover = bound(hovering, |(hovered, nodes, plan, data), over: Option<((f64, f64), Option<usize>)>| {
        let block = over.and_then(|(_, block)| block);
        hovered.set(block);
        let Some(tooltip) = nodes.tooltip.cast::<HtmlElement>() else { return };
        let room = nodes.scroller.cast::<HtmlElement>().map_or((0.0, 0.0), |all| platform::size_of_element(&all));
        let lines = block.and_then(|block| describe(plan, data, block));
        let shown = over.zip(lines.as_ref());
        let shown = shown.map(|((at, _), lines)| (at, room, lines.each_ref().map(String::as_str)));
        platform::place_tooltip(&tooltip, shown);
    });
    // The hovered block means something else at another moment.
    let unhover = on_hover.clone();
    use_effect_with(props.data.moment, move |_| unhover.emit(None));
    use_effect_with((props.focus, props.data.moment), {
        let (nodes, plan, data, view) = (nodes.clone(), plan.clone(), props.data.clone(), *view);
        move |(focus, _)| focus.iter().for_each(|&block| reveal(&nodes, &plan, &data, block, view))
    });
    use_effect_with(easel.clone(), |easel| {
        let easel = easel.clone();
        move || easel.clear(0)
    });
    use_effect({
        let (props, nodes, plan, view, hovered) = (props.clone(), nodes.clone(), plan.clone(), *view, *hovered);
        let theme = file.scheme.theme();
        move || paint(&props, (&nodes, &easel, theme), &plan, view, hovered)
    });
    let hit = {
        let (plan, data, scroller, top) = (plan.clone(), props.data.clone(), nodes.scroller.clone(), view.y);
        move |event: &MouseEvent| {
            let element = scroller.cast::<HtmlElement>()?;
            let (x, y) = platform::point_in(&element, event.client_x().into(), event.client_y().into());
            Some(((x, y), plan.hit(&data, x - MARGIN, y + top)))
        }
    };
    let onpointerleave = on_hover.reform(|_: PointerEvent| None);
    let onpointermove = bound(hit.clone(), move |hit, event: PointerEvent| {
        hit(&event).into_iter().for_each(|over| on_hover.emit(Some(over)))
    });
    let device = shown.device.device;
    let on_pin = bound(props.data.clone(), move |data, block: usize| pin(&file, device, data, block));
    let onclick = bound((props.clone(), on_pin.clone()), move |(props, on_pin), event: MouseEvent| {
        if let Some((_, Some(block))) = hit(&event) {
            props.on_focus.emit(block);
            on_pin.emit(block);
        }
    });
    let onkeydown = bound((props.clone(), plan.clone()), move |(props, plan), event: KeyboardEvent| {
        press(props, plan, &on_pin, &event)
    });
    let onscroll =
        bound((nodes.scroller.clone(), view.setter()), move |(scroller, view), _: Event| view.set(measured(scroller)));
    let spoken = props.focus.and_then(|block| describe(&plan, &props.data, block));
    let spoken = spoken.map(|lines| lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" · "));
    html! {
        <div class="segments-map">
            <canvas ref={&nodes.canvas} class="segments-canvas" aria-hidden="true"></canvas>
            <div ref={&nodes.scroller} class="segments-scroll" tabindex="0" role="application"
                aria-roledescription="map of segments" aria-label="Map of segments"
                aria-keyshortcuts="ArrowLeft ArrowRight ArrowUp ArrowDown Enter"
                data-moment={props.data.moment.to_string()} data-blocks={props.data.blocks.len().to_string()}
                {onpointermove} {onpointerleave} {onclick} {onkeydown} {onscroll}>
                <div ref={&nodes.spacer}></div>
            </div>
            <div ref={&nodes.tooltip} class="timeline-tooltip" data-tooltip="" hidden=true aria-hidden="true">
                <strong></strong><span></span><span></span><small></small>
            </div>
            <p class="segments-status numbers" role="status" aria-label="Block">
                { spoken.unwrap_or_else(|| "Use the arrow keys to move between blocks, and Enter to pin one".to_owned()) }
            </p>
        </div>
    }
}

fn measured(scroller: &NodeRef) -> Rect {
    let Some(element) = scroller.cast::<HtmlElement>() else { return Rect::default() };
    let (width, height) = platform::size_of_element(&element);
    Rect { x: 0.0, y: f64::from(element.scroll_top()), width, height }
}

fn paint(
    props: &MapProps,
    (nodes, easel, theme): (&Nodes, &Easel, &Theme),
    plan: &MapPlan,
    view: Rect,
    hovered: Option<usize>,
) {
    let (Some(canvas), Some(spacer)) = (nodes.canvas.cast::<HtmlCanvasElement>(), nodes.spacer.cast::<HtmlElement>())
    else {
        return;
    };
    platform::set_height(&spacer, plan.height + MARGIN);
    // The scroller's own bar takes room next to the canvas.
    platform::set_width(&canvas, view.width);
    platform::set_height(&canvas, view.height);
    let heads: Vec<String> = props.data.reserved.pools.iter().map(Room::title).collect();
    let all = ops(&MapScene {
        data: &props.data,
        plan,
        heads: &heads,
        theme,
        color_by: props.choice.color_by,
        view,
        margin: MARGIN,
        hovered,
        focused: props.focus,
        pinned: props.pinned.and_then(|key| props.data.blocks.iter().position(|block| block.owner == Some(key))),
    });
    platform::paint_ops(&canvas, (view.width, view.height), platform::pixel_ratio(), &all);
    easel.put(0, Sketch { ops: all, width: view.width, height: view.height });
}

fn reveal(nodes: &Nodes, plan: &MapPlan, data: &SegmentsData, block: usize, view: Rect) {
    let Some(rect) = plan.rects(data, block).first().copied() else { return };
    let Some(scroller) = nodes.scroller.cast::<HtmlElement>() else { return };
    if rect.y < view.y || rect.bottom() > view.bottom() {
        scroller.set_scroll_top((rect.y - view.height / 2.0).max(0.0) as i32);
    }
}

fn describe(plan: &MapPlan, data: &SegmentsData, block: usize) -> Option<[String; 4]> {
    let (segment, offset) = plan.place(block)?;
    Some(block_lines(data, segment, block, offset))
}

/// Pins the allocation of a block; a free block has none.
fn pin(file: &FileHandle, device: u32, data: &SegmentsData, block: usize) {
    let Some(key) = data.blocks.get(block).and_then(|block| block.owner) else { return };
    let (file, of) = (file.clone(), DeviceOf { client: file.client.clone(), device });
    find_allocation(of, key, data.moment, move |hit| file.act(FileAction::Pin(Some(hit))));
}

fn press(props: &MapProps, plan: &MapPlan, on_pin: &Callback<usize>, event: &KeyboardEvent) {
    let direction = match event.key().as_str() {
        "ArrowLeft" => Direction::Left,
        "ArrowRight" => Direction::Right,
        "ArrowUp" => Direction::Up,
        "ArrowDown" => Direction::Down,
        "Enter" => {
            props.focus.iter().for_each(|&block| on_pin.emit(block));
            return event.prevent_default();
        }
        _ => return,
    };
    // The timeline would pan and the scroller scroll otherwise.
    event.prevent_default();
    if let Some(next) = plan.step(&props.data, props.focus, direction) {
        props.on_focus.emit(next);
    }
}
