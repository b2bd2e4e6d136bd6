//! Dock below the timeline, which shows one view at a time of what the timeline shows.

use super::allocations::AllocationsView;
use super::compare::Compare;
use super::events::EventsView;
use super::export::{Easel, PictureButtons};
use super::flame::FlameView;
use super::log::LogsBelow;
use super::segments::Segments;
use super::selection::use_awaited_group;
use super::source::SourceView;
use super::what_if::WhatIf;
use crate::components::{IconName, bound, click, icon, passing, square_button, tab_keys};
use crate::hooks::{Seen, use_file, use_shown};
use crate::platform::{Folder, store, stored};
use crate::state::{DockTab, FileAction, dock_key};
use web_sys::HtmlElement;
use yew::prelude::*;

fn face(tab: DockTab) -> (&'static str, IconName, &'static str) {
    match tab {
        DockTab::Flame => ("dock-flame", IconName::Flame, "Flame graph"),
        DockTab::Allocations => ("dock-allocations", IconName::Table, "Allocations"),
        DockTab::Events => ("dock-events", IconName::List, "Events"),
        DockTab::Source => ("dock-source", IconName::Code, "Source"),
        DockTab::Segments => ("dock-segments", IconName::Blocks, "Segments"),
        DockTab::WhatIf => ("dock-what-if", IconName::Sliders, "What if"),
        DockTab::Compare => ("dock-compare", IconName::Balance, "Compare"),
        DockTab::Logs => ("dock-logs", IconName::Lines, "Logs"),
    }
}

#[derive(Clone, PartialEq, Properties)]
pub struct DockProps {
    /// Part of the timeline in view when it last rested; `None` before the first drawing.
    pub seen: Option<Seen>,
    /// Moment under the pointer, or pinned; only for the views that follow it, so that the others rest.
    pub cursor: Option<u32>,
}

/// Shows the tabs, and the open view below them; a click on its tab closes the dock.
#[component]
pub fn Dock(props: &DockProps) -> Html {
    let dock = use_node_ref();
    let (file, shown) = (use_file(), use_shown());
    use_awaited_group();
    let easel = (*use_memo((), |()| Easel::default())).clone();
    // The folder stays while other views are open.
    let folder = use_state_eq(|| None::<Folder>);
    let open = shown.ready.dock;
    let is_maximized = shown.ready.is_dock_maximized();
    let on_maximize = file.acting(|()| FileAction::MaximizeDock);
    let on_dock = Callback::from(move |tab: Option<DockTab>| file.choose_dock(tab));
    let on_choose = on_dock.reform(|next: u32| Some(DockTab::ALL[next as usize]));
    let on_key = tab_keys(open.map_or(0, |tab| tab as u32), DockTab::ALL.len() as u32, false, on_choose);
    let head = |this: DockTab| {
        let (is_shown, (id, name, label)) = (open == Some(this), face(this));
        let onclick = passing(&on_dock, (!is_shown).then_some(this));
        // One tab can always be reached by the Tab key, even while the dock is closed.
        let is_stop = is_shown || (open.is_none() && this == DockTab::ALL[0]);
        html! {
            <button type="button" role="tab" {id} data-tab={(this as u32).to_string()}
                aria-selected={is_shown.to_string()} tabindex={if is_stop { "0" } else { "-1" }}
                title={format!("{} ({})", label, dock_key(this).to_uppercase())}
                aria-controls={open.map(|_| "dock-body")} {onclick}>{ icon(name) }{ label }</button>
        }
    };
    html! {
        <section class="dock" data-dock-views="" data-open={open.map(|_| "")} aria-label="More views" ref={dock.clone()}>
            if open.is_some() && !is_maximized { <Grip dock={dock.clone()} on_maximize={on_maximize.clone()} /> }
            <div class="dock-head">
                <div class="dock-tabs" role="tablist" aria-label="More views" onkeydown={on_key}>
                    { for DockTab::ALL.map(head) }
                </div>
                if let Some(tab) = open {
                    <div class="dock-actions">
                        <PictureButtons {tab} easel={easel.clone()} />
                        <button type="button" class="button quiet square" aria-label="Maximize" title="Maximize (F)"
                            aria-pressed={is_maximized.to_string()}
                            onclick={click(&on_maximize)}>{ icon(IconName::Fit) }</button>
                        { square_button(IconName::Close, "Close", "Close", Some(passing(&on_dock, None))) }
                    </div>
                }
            </div>
            if let Some(tab) = open {
                <div class="dock-body" id="dock-body" role="tabpanel" aria-labelledby={face(tab).0}>
                    <ContextProvider<Easel> context={easel}>{ body(tab, props, &folder) }</ContextProvider<Easel>>
                </div>
            }
        </section>
    }
}

fn body(tab: DockTab, &DockProps { seen, cursor }: &DockProps, folder: &UseStateHandle<Option<Folder>>) -> Html {
    match tab {
        DockTab::Flame => html! { <FlameView {seen} /> },
        DockTab::Allocations => html! { <AllocationsView {seen} /> },
        DockTab::Events => html! { <EventsView {seen} {cursor} /> },
        DockTab::Source => html! { <SourceView {seen} {folder} /> },
        DockTab::Segments => html! { <Segments /> },
        DockTab::Compare => html! { <Compare /> },
        DockTab::WhatIf => html! { <WhatIf /> },
        DockTab::Logs => html! { <LogsBelow {seen} /> },
    }
}

/// Minimum height of the dock in CSS pixels: its tabs and a few rows.
const LEAST_PX: f64 = 140.0;

/// Minimum height left for the timeline, in CSS pixels: its minimap, to which it folds.
const TIMELINE_PX: f64 = 72.0;

/// Name in the browser's storage of the height that the user chose, in CSS pixels.
const HEIGHT: &str = "dock-height";

const STEP_PX: f64 = 32.0;

#[derive(Clone, PartialEq, Properties)]
struct GripProps {
    dock: NodeRef,
    on_maximize: Callback<()>,
}

/// Shows a separator that is dragged, or moved by the arrow keys; a double-click maximises the dock.
#[component]
fn Grip(props: &GripProps) -> Html {
    let from = use_mut_ref(|| None::<f64>);
    let share = use_state_eq(|| None::<i32>);
    let first = share.setter();
    use_effect_with(props.dock.clone(), move |dock| {
        let Some(dock) = dock.cast::<HtmlElement>() else { return };
        if let Some(height) = stored(HEIGHT).and_then(|text| text.parse().ok()) {
            set_height(&dock, height);
        }
        first.set(share_of(&dock));
    });
    let grow = bound((props.dock.clone(), share.setter()), move |(dock, share), by_px: f64| {
        let Some(dock) = dock.cast::<HtmlElement>() else { return };
        set_height(&dock, f64::from(dock.offset_height()) + by_px);
        share.set(share_of(&dock));
    });
    // Keeps the height for the next view and the next visit.
    let keep = bound(props.dock.clone(), move |dock, ()| {
        if let Some(dock) = dock.cast::<HtmlElement>() {
            store(HEIGHT, &dock.offset_height().to_string());
        }
    });
    let onpointerdown = bound(from.clone(), move |from, event: PointerEvent| {
        event.prevent_default();
        let grip: HtmlElement = event.target_unchecked_into();
        // Capturing may fail; the drag then only ends where the pointer leaves the grip.
        let _ = grip.set_pointer_capture(event.pointer_id());
        *from.borrow_mut() = Some(f64::from(event.client_y()));
    });
    let onpointermove = bound((from.clone(), grow.clone()), move |(from, grow), event: PointerEvent| {
        if let Some(last) = from.borrow_mut().as_mut() {
            let y = f64::from(event.client_y());
            grow.emit(*last - y);
            *last = y;
        }
    });
    let onpointerup = keep.reform(move |_: PointerEvent| *from.borrow_mut() = None);
    let onkeydown = move |event: KeyboardEvent| {
        let by_px = match event.key().as_str() {
            "ArrowUp" => STEP_PX,
            "ArrowDown" => -STEP_PX,
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        grow.emit(by_px);
        keep.emit(());
    };
    html! {
        <div class="dock-grip" role="separator" aria-orientation="horizontal" aria-label="Height of the view below"
            aria-valuemin="0" aria-valuemax="100" aria-valuenow={share.map(|share| share.to_string())}
            aria-valuetext={share.map(|share| format!("{share} % of the height"))}
            title="Drag to change the height; double-click to maximize"
            tabindex="0" {onpointerdown} {onpointermove} {onpointerup} {onkeydown}
            ondblclick={click(&props.on_maximize)}></div>
    }
}

fn share_of(dock: &HtmlElement) -> Option<i32> {
    let whole = dock.parent_element()?.client_height();
    (whole > 0).then(|| (100 * dock.offset_height() / whole).clamp(0, 100))
}

fn set_height(dock: &HtmlElement, px: f64) {
    let most = dock.parent_element().map_or(f64::MAX, |stage| f64::from(stage.client_height()) - TIMELINE_PX);
    let height = px.clamp(LEAST_PX, most.max(LEAST_PX));
    // `set_property` fails only for an invalid name.
    let _ = dock.style().set_property("--dock-height", &format!("{height}px"));
}
