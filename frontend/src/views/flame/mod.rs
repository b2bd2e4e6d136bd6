//! Dock tab for the stacks in the timeline's selection: a flame graph, or a table of functions.

pub mod camera;
mod canvas;
pub mod draw;
pub mod model;
pub mod rows;
mod sites;
mod stage;

use self::canvas::FlameCanvas;
use self::sites::Sites;
use self::stage::{Chosen, Told};
use super::export::SheetButtons;
use super::selection::{ScopeBar, use_selecting};
use crate::ask::{FlameShape, FlameSource, FlameTree, GetLargest, Kind, NameMark, SheetOf};
use crate::components::{IconName, bound, choice, icon, passing, segmented, text_of};
use crate::hooks::{FileHandle, Seen, use_file, use_shown};
use crate::state::{Choice, Controls, FileAction, Rootward, StacksChoice, TimelineCommand};
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct FlameViewProps {
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
    let sites = shown.kind_facts().and_then(|facts| facts.sites);
    let outlined = sites.map(|sites| sites[usize::from(!controls.by_line)]);
    let on_told = use_callback(told.setter(), |next: Told, told| told.set(next));
    let on_search = file.choosing(|text: AttrValue| Choice::StackSearch(text.to_string()));
    let on_controls = use_callback((file.clone(), chosen.setter()), |next: Controls, (file, chosen)| {
        file.choose(Choice::Stacks(next));
        chosen.set(None);
    });
    let on_zoom = use_callback(file.clone(), |zoom, file| file.choose(Choice::Zoom(zoom)));
    let on_site = file.choosing(Choice::Site);
    let on_order = file.choosing(Choice::SiteOrder);
    let on_sandwich = bound((on_controls.clone(), on_site.clone()), move |(on_controls, on_site), site: NameMark| {
        on_site.emit(site);
        on_controls.emit(Controls { is_table: true, ..controls });
    });
    let of = bound((source.clone(), search.clone()), move |(source, search), ()| SheetOf::Sites {
        source: source.clone(),
        order,
        search: search.to_string(),
    });
    let on_show = show_largest(&file, shown.device.device);
    html! {
        <div class="dock-view flame">
            <ScopeBar has_weight={true} error={told.error.clone()} lead={view_switch(controls, &on_controls)}>
                if controls.is_table { <SheetButtons table="functions" {of} /> }
            </ScopeBar>
            { bar(controls, &on_controls, &search, &on_search, told.found.as_ref().filter(|_| !controls.is_table)) }
            if controls.is_table {
                <Sites {source} {search} {site} {on_site} {order} {on_order} {on_chosen} {on_told} />
            } else {
                <FlameCanvas tree={tree(controls, source)} {search} {zoom} {on_zoom} {outlined} rootward={controls.rootward}
                    label="Flame graph of the allocations" {on_chosen} {on_told} />
            }
            { footer(chosen.as_ref(), &on_show, &on_sandwich) }
        </div>
    }
}

fn tree(controls: Controls, source: FlameSource) -> FlameTree {
    let shape = if controls.is_inverted { FlameShape::Inverted } else { FlameShape::Whole };
    FlameTree { source, shape, by_appearance: controls.by_appearance }
}

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

fn view_switch(now: Controls, on_controls: &Callback<Controls>) -> Html {
    let view = |(label, is_table)| {
        let onclick = passing(on_controls, Controls { is_table, ..now });
        choice(label, "", now.is_table == is_table, Some(onclick))
    };
    segmented("View", [("Graph", false), ("Table", true)].map(view))
}

/// Shows the switches for the layout of the stacks, and the search with a summary of what it finds.
fn bar(
    now: Controls,
    on_controls: &Callback<Controls>,
    search: &AttrValue,
    on_search: &Callback<AttrValue>,
    found: Option<&AttrValue>,
) -> Html {
    let toggle = |label: &'static str, title: &'static str, is_on: bool, next: Controls| {
        let onclick = passing(on_controls, next);
        html! {
            <button type="button" class="toggle" aria-pressed={is_on.to_string()} {title} {onclick}>{ label }</button>
        }
    };
    let rises = now.rootward == Rootward::Down;
    let turned = if rises { Rootward::Up } else { Rootward::Down };
    let oninput = on_search.reform(|event: InputEvent| AttrValue::from(text_of(&event)));
    let hint = if now.is_table { "Find functions and files" } else { "Highlight functions and files" };
    html! {
        <div class="flame-bar" role="toolbar" aria-label="Flame graph">
            <div class="flame-toggles" role="group" aria-label="Stacks">
                if !now.is_table {
                    { toggle("Inverted", "Start with the functions that allocate, followed by their callers", now.is_inverted,
                        Controls { is_inverted: !now.is_inverted, ..now }) }
                    { toggle("Largest first", "Sort by size instead of first appearance", !now.by_appearance,
                        Controls { by_appearance: !now.by_appearance, ..now }) }
                    { toggle("Root below", "Draw the root at the bottom instead of at the top", rises,
                        Controls { rootward: turned, ..now }) }
                }
                { toggle("Lines", "Separate the lines of a function", now.by_line, Controls { by_line: !now.by_line, ..now }) }
                { toggle("Runtime", "Include the frames of PyTorch and Python", now.with_runtime,
                    Controls { with_runtime: !now.with_runtime, ..now }) }
            </div>
            <label class="scope-search">
                { icon(IconName::Search) }
                <input type="search" placeholder={hint} aria-label={hint} value={search} autocomplete="off"
                    spellcheck="false" {oninput} />
            </label>
            <span class="flame-found numbers" role="status">{ found.cloned().unwrap_or_default() }</span>
        </div>
    }
}

/// Shows one line, which is also there without a chosen box so that nothing moves when one is chosen.
///
/// `on_show` is called with a node to show its largest allocation, `on_sandwich` with a site to show its callers and
/// callees.
fn footer(chosen: Option<&Chosen>, on_show: &Callback<(FlameTree, u32)>, on_sandwich: &Callback<NameMark>) -> Html {
    let Some(chosen) = chosen else {
        return html! {
            <footer class="flame-foot">
                <p class="flame-hint">{ "Click a box to zoom in, Esc or Backspace to go back" }</p>
                <p class="visually-hidden" role="status"></p>
            </footer>
        };
    };
    let text = &chosen.text;
    let on_show = chosen.node.map(|node| passing(on_show, (chosen.tree.clone(), node)));
    let on_sandwich = chosen.site.map(|site| passing(on_sandwich, site));
    html! {
        <footer class="flame-foot">
            <p class="flame-chosen" data-chosen="">
                <strong>{ &text.name }</strong>
                <span class="flame-place">{ &text.place }</span>
                <span class="numbers">{ text.numbers() }</span>
            </p>
            <p class="visually-hidden" role="status">{ text.spoken() }</p>
            if let Some(onclick) = on_show {
                <button type="button" class="button" {onclick} title="Pin its largest allocation">{ "Show in timeline" }</button>
            }
            if let Some(onclick) = on_sandwich {
                <button type="button" class="button" {onclick} title="Show its callers and callees">{ "Open sandwich" }</button>
            }
        </footer>
    }
}
