//! Timeline of one device: plot, axes, spans, minimap, and their input.
//!
//! It draws in each frame without yew: `director.rs` schedules frames and asks, `stage.rs` holds the state, and
//! `paint.rs` lays the pictures of bands on a canvas.
//! The page draws the last image over the plot at once, while a new one is made. Pictures have wide margins for panning
//! and narrow ones while zooming, where the next has another scale anyway.
//! Nothing but canvases and transformed elements changes from frame to frame: an element that is resized would be
//! painted anew, and with it the page behind, which took a third of each frame.
//!
//! A picture records whether its colours are stacks or categories, so that none is drawn with the wrong palette.

mod director;
pub mod draw;
mod input;
pub mod legend;
pub mod model;
mod paint;
mod stage;

use self::director::Director;
use self::legend::Legend;
use self::paint::Painter;
use self::stage::{Given, Stage, TimelineProps};
use crate::hooks::{use_file, use_shown};
use crate::platform::{ResizeListener, Surface};
use gloo_events::EventListener;
use web_sys::{HtmlCanvasElement, HtmlElement};
use yew::prelude::*;

/// Shows the timeline of one device.
///
/// Yew renders the elements once; then a director draws into them, because rendering costs more than a frame.
#[component]
pub fn Timeline(props: &TimelineProps) -> Html {
    let nodes = use_memo((), |()| Nodes::default());
    let running = use_mut_ref(|| None::<Running>);
    let given = (use_file(), use_shown(), props.clone());
    let (elements, kept) = (nodes.clone(), running.clone());
    use_effect_with(given, move |given: &Given| {
        let mut running = kept.borrow_mut();
        match &mut *running {
            Some(running) => running.update(given),
            None => *running = elements.surface().and_then(|surface| Running::start(given, surface)),
        }
    });
    use_effect_with((), move |()| move || drop(running.take()));
    html! {
        <section class="timeline" aria-label="Timeline">
            <div ref={&nodes.plot} class="timeline-plot" data-timeline="" tabindex="0" role="application"
                aria-roledescription="memory timeline" aria-keyshortcuts="+ - ArrowLeft ArrowRight ArrowUp ArrowDown Enter 0 P , . K N">
                <canvas ref={&nodes.bands} class="timeline-canvas" data-bands-canvas=""></canvas>
                <canvas ref={&nodes.overlay} class="timeline-canvas" aria-hidden="true"></canvas>
                <div ref={&nodes.tooltip} class="timeline-tooltip" data-tooltip="" hidden=true aria-hidden="true">
                    <strong></strong><span></span><span></span><small></small>
                </div>
            </div>
            <Legend />
            <div ref={&nodes.minimap} class="timeline-minimap" data-minimap="" aria-hidden="true">
                <canvas ref={&nodes.chart} class="timeline-canvas"></canvas>
                <div ref={&nodes.window} class="timeline-window"><div></div><div></div></div>
            </div>
        </section>
    }
}

/// The elements that the director draws into, as references that yew fills.
#[derive(Default, PartialEq)]
struct Nodes {
    plot: NodeRef,
    bands: NodeRef,
    overlay: NodeRef,
    tooltip: NodeRef,
    minimap: NodeRef,
    chart: NodeRef,
    window: NodeRef,
}

impl Nodes {
    fn surface(&self) -> Option<Surface> {
        Some(Surface {
            plot: self.plot.cast::<HtmlElement>()?,
            bands: self.bands.cast::<HtmlCanvasElement>()?,
            overlay: self.overlay.cast::<HtmlCanvasElement>()?,
            tooltip: self.tooltip.cast::<HtmlElement>()?,
            minimap: self.minimap.cast::<HtmlElement>()?,
            chart: self.chart.cast::<HtmlCanvasElement>()?,
            window: self.window.cast::<HtmlElement>()?,
        })
    }
}

/// The director and its listeners, which end with the component.
struct Running {
    director: Director,
    obeyed: Option<u32>,
    _listeners: Vec<EventListener>,
    _resize: [Option<ResizeListener>; 2],
    _restored: EventListener,
}

impl Running {
    fn start(given: &Given, surface: Surface) -> Option<Self> {
        let painter = Painter::open(surface.bands.clone())?;
        let director = Director::new(Stage::new(given.clone(), surface.clone(), painter));
        let refit = |element: &HtmlElement| {
            let director = director.clone();
            ResizeListener::new(element, move || director.with(Stage::fit_to_element))
        };
        Some(Self {
            // A command older than this timeline was meant for another one.
            obeyed: given.2.command.map(|issued| issued.number),
            _listeners: input::listen(&director, &surface),
            _resize: [refit(&surface.plot), refit(&surface.minimap)],
            // The browser may give a canvas back that the graphics card had lost.
            _restored: {
                let director = director.clone();
                EventListener::new(&surface.bands, "contextrestored", move |_| director.with(Stage::repaint))
            },
            director,
        })
    }

    fn update(&mut self, given: &Given) {
        let subject = |(file, shown, _): &Given| (file.client.clone(), shown.device.device, shown.ready.axis);
        let before = self.director.with(|stage| stage.take(given.clone()));
        if subject(&before) != subject(given) {
            self.director.with(Stage::start_over);
            self.director.start();
        } else {
            self.follow_change(&before, given);
        }
        if let Some(issued) = given.2.command.filter(|issued| Some(issued.number) != self.obeyed) {
            self.obeyed = Some(issued.number);
            self.director.obey(issued.command);
        }
    }

    /// Applies what has changed while the device and the axis stay the same.
    fn follow_change(&self, before: &Given, now: &Given) {
        let looks =
            |(file, shown, _): &Given| (shown.ready.color(), file.scheme, shown.pinned(), shown.ready.kind.clone());
        if looks(before) != looks(now) {
            self.director.with(Stage::take_looks);
        }
        let ((_, before, old_props), (_, shown, props)) = (before, now);
        if before.ready.shown_parts() != shown.ready.shown_parts() {
            self.director.with(Stage::take_parts);
        }
        if before.capacity_bytes() != shown.capacity_bytes() {
            self.director.with(Stage::take_card);
        }
        if old_props.flags != props.flags {
            self.director.ask_flags();
        }
        if before.pinned() != shown.pinned() {
            self.director.ask_pin();
        }
    }
}
