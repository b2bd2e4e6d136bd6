//! A flame graph on a canvas.

use super::input;
use super::stage::{FlameStage, Shown};
use crate::components::dock::picture::Easel;
use crate::draw::flame_camera::Rootward;
use crate::hooks::use_flame_boxes;
use crate::platform::{ResizeListener, WorkerClient};
use crate::state::{Scheme, Zoom};
use crate::view::flame::{BoxText, found_text};
use crate::worker::{FlameBoxes, FlameTally, FlameTree, NameMark};
use gloo_events::EventListener;
use std::rc::Rc;
use web_sys::{HtmlCanvasElement, HtmlElement};
use yew::prelude::*;

/// A box that was chosen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    /// The tree that it is of.
    pub(super) tree: FlameTree,
    /// The number of its node; `None` where several are merged.
    pub(super) node: Option<u32>,
    /// The mark of what it is of, `None` if that is no site.
    pub(super) site: Option<NameMark>,
    /// What it says.
    pub(super) text: BoxText,
}

/// What came of a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    /// How much the search finds.
    pub(super) found: Option<AttrValue>,
    /// What is wrong with the text of the filter.
    pub(super) error: Option<AttrValue>,
}

/// What the [`FlameCanvas`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct FlameCanvasProps {
    /// The worker of the file.
    pub(super) client: WorkerClient,
    /// The device, by position.
    pub(super) device: u32,
    /// The tree.
    pub(super) tree: FlameTree,
    /// What is looked for, or nothing.
    pub(super) search: AttrValue,
    /// Where the root is.
    pub(super) rootward: Rootward,
    /// The colours.
    pub(super) scheme: Scheme,
    /// What it shows, for those who don't see it.
    pub(super) label: AttrValue,
    /// Keeps what is drawn.
    pub(super) easel: Easel,
    /// Its place from the top among the drawings of the view.
    #[prop_or_default]
    pub(super) place: u8,
    /// The part to show, where it is kept somewhere; `None` for all of it.
    #[prop_or_default]
    pub(super) zoom: Option<Zoom>,
    /// Another part is in view.
    #[prop_or_default]
    pub(super) on_zoom: Callback<Option<Zoom>>,
    /// A box was chosen, or none any more.
    pub(super) on_chosen: Callback<Option<Chosen>>,
    /// What came of the question, where somebody wants to know.
    #[prop_or_default]
    pub(super) on_told: Callback<Told>,
}

/// The graph; yew renders its elements, and a stage draws into them.
#[component]
pub(super) fn FlameCanvas(props: &FlameCanvasProps) -> Html {
    let nodes = use_memo((), |()| Nodes::default());
    let running = use_mut_ref(|| None::<Running>);
    let zoom = use_state_eq(|| None::<(FlameTree, (f64, f64))>);
    // A range of one tree means nothing in another.
    let range = zoom.as_ref().filter(|(tree, _)| *tree == props.tree).map(|(_, range)| *range);
    let answer = use_flame_boxes(&props.client, props.device, &props.tree, range, &props.search);
    let on_range = {
        let zoom = zoom.setter();
        use_callback((), move |range: Option<(FlameTree, (f64, f64))>, ()| zoom.set(range))
    };
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
        use_effect_with((props.clone(), data), move |(props, data)| {
            let mut running = running.borrow_mut();
            if running.is_none() {
                *running = nodes.start(on_range);
            }
            // While the text of the filter can't be read, the graph shows what it found before.
            if let (Some(running), Some(data)) = (&*running, data) {
                running.stage.show(Shown { props: props.clone(), data: data.clone() });
            }
        });
    }
    use_effect_with((props.easel.clone(), props.place), move |(easel, place)| {
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
            <div ref={&nodes.tooltip} class="timeline-tooltip" hidden=true aria-hidden="true">
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

fn total_of(boxes: &FlameBoxes) -> FlameTally {
    boxes.boxes.first().map_or_else(FlameTally::default, |all| all.total)
}

/// The elements, as yew hands them out.
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
        Some(Running { _listeners: input::listen(&stage, &host), _resize: resize, stage })
    }
}

/// The stage and the listeners that keep it informed; they end with the component.
struct Running {
    stage: FlameStage,
    _listeners: Vec<EventListener>,
    _resize: Option<ResizeListener>,
}
