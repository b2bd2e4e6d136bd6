//! Dock tab for the stacks in the timeline's selection: a flame graph, or a table of functions.

pub mod camera;
pub mod draw;
pub mod hook;
pub mod model;
pub mod rows;

mod bar;
mod canvas;
mod footer;
mod input;
mod props;
mod sites;
mod sites_table;
mod stage;

use self::bar::{Bar, view_switch};
use self::canvas::FlameCanvas;
use self::footer::Footer;
use self::props::{Chosen, Told};
use self::sites::Sites;
use super::allocations::hook::use_selection_facts;
use super::dock_props::DockProps;
use super::export::picture::use_easel;
use super::selection::ScopeBar;
use super::selection::hook::use_selecting;
use crate::ask::{FlameShape, FlameSource, FlameTree, GetLargest, Hit, Kind, NameMark, SheetOf};
use crate::platform::WorkerClient;
use crate::state::{Choice, Controls, FileAction, StacksChoice, TimelineCommand};
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct FlameViewProps {
    pub(super) dock: DockProps,
}

/// Shows the flame graph, or the table of all functions, of the scope chosen above it.
#[component]
pub(super) fn FlameView(props: &FlameViewProps) -> Html {
    let dock = &props.dock;
    let StacksChoice { controls, search, zoom, site, order } = dock.file.choices.stacks.clone();
    let search = AttrValue::from(search);
    let told = use_state_eq(Told::default);
    let easel = use_easel();
    let chosen = use_state_eq(|| None::<Chosen>);
    let facts = use_selection_facts(&dock.client, dock.device.device);
    let source = FlameSource {
        selection: use_selecting().data(&dock.device, dock.file.pinned.as_deref(), dock.seen.as_ref()),
        by_line: controls.by_line,
        with_runtime: controls.with_runtime,
    };
    // A box also selects the allocations of its line or function in all other views.
    let on_chosen =
        use_callback((chosen.setter(), dock.on_action.clone()), |next: Option<Chosen>, (chosen, on_action)| {
            if let Some(Chosen { tree, site: Some(mark), .. }) = &next {
                let kind = Kind::Site { mark: *mark, is_line: tree.source.by_line };
                on_action.emit(FileAction::SelectKind(Some(kind)));
            }
            chosen.set(next);
        });
    let outlined = dock.kind_facts().and_then(|facts| facts.sites).map(
        |[line, function]| {
            if controls.by_line { line } else { function }
        },
    );
    let on_told = use_callback(told.setter(), |next: Told, told| told.set(next));
    let on_search = dock.on_choose.reform(|text: AttrValue| Choice::StackSearch(text.to_string()));
    let on_controls = use_callback((dock.on_choose.clone(), chosen.setter()), |next: Controls, (on_choose, chosen)| {
        on_choose.emit(Choice::Stacks(next));
        chosen.set(None);
    });
    let on_zoom = use_callback(dock.on_choose.clone(), |zoom, on_choose| on_choose.emit(Choice::Zoom(zoom)));
    let on_site = dock.on_choose.reform(Choice::Site);
    let on_order = dock.on_choose.reform(Choice::SiteOrder);
    let on_sandwich = {
        let (on_controls, on_site) = (on_controls.clone(), on_site.clone());
        Callback::from(move |site: NameMark| {
            on_site.emit(site);
            on_controls.emit(Controls { is_table: true, ..controls });
        })
    };
    let files = {
        let (source, search) = (source.clone(), search.clone());
        let of = move || SheetOf::Sites { source: source.clone(), order, search: search.to_string() };
        dock.sheet_buttons("functions", of)
    };
    let on_show = show_largest(dock);
    let (client, device, scheme) = (dock.client.clone(), dock.device.device, dock.scheme);
    html! {
        <div class="dock-view flame">
            <ScopeBar {facts} has_pin={dock.file.pinned.is_some()} has_times={dock.device.has_times} has_weight={true}
                error={told.error.clone()} lead={view_switch(controls, &on_controls)}>
                if controls.is_table {
                    { files }
                }
            </ScopeBar>
            <Bar {controls} {on_controls} search={search.clone()} {on_search}
                found={told.found.clone().filter(|_| !controls.is_table)} />
            if controls.is_table {
                <Sites {client} {device} {scheme} {source} {search} {site} {on_site} {order} {on_order} {easel}
                    on_chosen={on_chosen.clone()} {on_told} />
            } else {
                <FlameCanvas {client} {device} {scheme} tree={tree(controls, source)} {search} {zoom} {on_zoom} {easel} {outlined}
                    rootward={controls.rootward} label="Flame graph of the allocations" {on_chosen} {on_told} />
            }
            <Footer chosen={(*chosen).clone()} {on_show} {on_sandwich} />
        </div>
    }
}

fn tree(controls: Controls, source: FlameSource) -> FlameTree {
    let shape = if controls.is_inverted { FlameShape::Inverted } else { FlameShape::Whole };
    FlameTree { source, shape, by_appearance: controls.by_appearance }
}

/// Pins the largest allocation of a box and brings it into view.
fn show_largest(dock: &DockProps) -> Callback<(FlameTree, u32)> {
    let (client, device) = (dock.client.clone(), dock.device.device);
    let (on_pin, on_command) = (dock.on_pin.clone(), dock.on_command.clone());
    Callback::from(move |(tree, node): (FlameTree, u32)| {
        let (client, on_pin, on_command) = (client.clone(), on_pin.clone(), on_command.clone());
        spawn_local(async move {
            if let Some(hit) = largest(&client, device, tree, node).await {
                on_command.emit(TimelineCommand::JumpTo { moment: hit.moment });
                on_pin.emit(Some(hit));
            }
        });
    })
}

/// Returns the largest allocation of a node; `None` also if the file was closed in the meantime.
async fn largest(client: &WorkerClient, device: u32, tree: FlameTree, node: u32) -> Option<Hit> {
    client.ask(GetLargest { device, tree, node }).await.ok()?.ok()?
}
