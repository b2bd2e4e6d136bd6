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
use super::export::sheet_buttons::SheetButtons;
use super::selection::ScopeBar;
use super::selection::hook::use_selecting;
use crate::ask::{FlameShape, FlameSource, FlameTree, GetLargest, Kind, NameMark, SheetOf};
use crate::hooks::{FileHandle, Seen, use_file, use_shown};
use crate::state::{Choice, Controls, FileAction, StacksChoice, TimelineCommand};
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct FlameViewProps {
    /// Part of the timeline in view.
    pub(super) seen: Option<Seen>,
}

/// Shows the flame graph, or the table of all functions, of the scope chosen above it.
#[component]
pub(super) fn FlameView(props: &FlameViewProps) -> Html {
    let (file, shown) = (use_file(), use_shown());
    let StacksChoice { controls, search, zoom, site, order } = shown.ready.choices.stacks.clone();
    let search = AttrValue::from(search);
    let told = use_state_eq(Told::default);
    let chosen = use_state_eq(|| None::<Chosen>);
    let source = FlameSource {
        selection: use_selecting().data(props.seen),
        by_line: controls.by_line,
        with_runtime: controls.with_runtime,
    };
    // A box also selects the allocations of its line or function in all other views.
    let on_chosen = use_callback((chosen.setter(), file.clone()), |next: Option<Chosen>, (chosen, file)| {
        if let Some(Chosen { tree, site: Some(mark), .. }) = &next {
            let kind = Kind::Site { mark: *mark, is_line: tree.source.by_line };
            file.act(FileAction::SelectKind(Some(kind)));
        }
        chosen.set(next);
    });
    let outlined = shown.kind_facts().and_then(|facts| facts.sites).map(
        |[line, function]| {
            if controls.by_line { line } else { function }
        },
    );
    let on_told = use_callback(told.setter(), |next: Told, told| told.set(next));
    let on_search = file.choosing(|text: AttrValue| Choice::StackSearch(text.to_string()));
    let on_controls = use_callback((file.clone(), chosen.setter()), |next: Controls, (file, chosen)| {
        file.choose(Choice::Stacks(next));
        chosen.set(None);
    });
    let on_zoom = use_callback(file.clone(), |zoom, file| file.choose(Choice::Zoom(zoom)));
    let on_site = file.choosing(Choice::Site);
    let on_order = file.choosing(Choice::SiteOrder);
    let on_sandwich = {
        let (on_controls, on_site) = (on_controls.clone(), on_site.clone());
        Callback::from(move |site: NameMark| {
            on_site.emit(site);
            on_controls.emit(Controls { is_table: true, ..controls });
        })
    };
    let of = {
        let (source, search) = (source.clone(), search.clone());
        move |()| SheetOf::Sites { source: source.clone(), order, search: search.to_string() }
    };
    let on_show = show_largest(&file, shown.device.device);
    html! {
        <div class="dock-view flame">
            <ScopeBar has_weight={true} error={told.error.clone()} lead={view_switch(controls, &on_controls)}>
                if controls.is_table { <SheetButtons table="functions" {of} /> }
            </ScopeBar>
            <Bar {controls} {on_controls} search={search.clone()} {on_search}
                found={told.found.clone().filter(|_| !controls.is_table)} />
            if controls.is_table {
                <Sites {source} {search} {site} {on_site} {order} {on_order} {on_chosen} {on_told} />
            } else {
                <FlameCanvas tree={tree(controls, source)} {search} {zoom} {on_zoom} {outlined} rootward={controls.rootward}
                    label="Flame graph of the allocations" {on_chosen} {on_told} />
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
fn show_largest(file: &FileHandle, device: u32) -> Callback<(FlameTree, u32)> {
    let file = file.clone();
    Callback::from(move |(tree, node): (FlameTree, u32)| {
        let file = file.clone();
        spawn_local(async move {
            // An error means that the file was closed.
            if let Ok(Ok(Some(hit))) = file.client.ask(GetLargest { device, tree, node }).await {
                file.command(TimelineCommand::JumpTo { moment: hit.moment });
                file.act(FileAction::Pin(Some(hit)));
            }
        });
    })
}
