//! Dock below the timeline, which shows one view at a time of what the timeline shows.

mod grip;

use self::grip::Grip;
use super::allocations::AllocationsView;
use super::compare::Compare;
use super::events::EventsView;
use super::export::picture::{Easel, PictureButtons};
use super::flame::FlameView;
use super::log::LogsBelow;
use super::segments::Segments;
use super::selection::hook::use_awaited_group;
use super::source::SourceView;
use super::what_if::WhatIf;
use crate::components::controls::tab_keys;
use crate::components::icon::{Icon, IconName};
use crate::hooks::{Seen, use_file, use_shown};
use crate::platform::Folder;
use crate::state::{DockTab, FileAction, dock_key};
use yew::prelude::*;

fn id(tab: DockTab) -> &'static str {
    match tab {
        DockTab::Flame => "dock-flame",
        DockTab::Allocations => "dock-allocations",
        DockTab::Events => "dock-events",
        DockTab::Source => "dock-source",
        DockTab::Segments => "dock-segments",
        DockTab::WhatIf => "dock-what-if",
        DockTab::Compare => "dock-compare",
        DockTab::Logs => "dock-logs",
    }
}

fn icon(tab: DockTab) -> IconName {
    match tab {
        DockTab::Flame => IconName::Flame,
        DockTab::Allocations => IconName::Table,
        DockTab::Events => IconName::List,
        DockTab::Source => IconName::Code,
        DockTab::Segments => IconName::Blocks,
        DockTab::WhatIf => IconName::Sliders,
        DockTab::Compare => IconName::Balance,
        DockTab::Logs => IconName::Lines,
    }
}

fn label(tab: DockTab) -> &'static str {
    match tab {
        DockTab::Flame => "Flame graph",
        DockTab::Allocations => "Allocations",
        DockTab::Events => "Events",
        DockTab::Source => "Source",
        DockTab::Segments => "Segments",
        DockTab::WhatIf => "What if",
        DockTab::Compare => "Compare",
        DockTab::Logs => "Logs",
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
    let on_key = tab_keys(open.map_or(0, |tab| tab as u32), DockTab::ALL.len() as u32, on_choose);
    let head = |this: DockTab| {
        let is_shown = open == Some(this);
        let onclick = on_dock.reform(move |_: MouseEvent| (!is_shown).then_some(this));
        // One tab can always be reached by the Tab key, even while the dock is closed.
        let is_stop = is_shown || (open.is_none() && this == DockTab::ALL[0]);
        html! {
            <button type="button" role="tab" id={id(this)} data-tab={(this as u32).to_string()}
                aria-selected={is_shown.to_string()} tabindex={if is_stop { "0" } else { "-1" }}
                title={format!("{} ({})", label(this), dock_key(this).to_uppercase())}
                aria-controls={open.map(|_| "dock-body")} {onclick}><Icon name={icon(this)} />{ label(this) }</button>
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
                            onclick={on_maximize.reform(|_: MouseEvent| ())}><Icon name={IconName::Fit} /></button>
                        <button type="button" class="button quiet square" aria-label="Close" title="Close"
                            onclick={on_dock.reform(|_: MouseEvent| None)}><Icon name={IconName::Close} /></button>
                    </div>
                }
            </div>
            if let Some(tab) = open {
                <div class="dock-body" id="dock-body" role="tabpanel" aria-labelledby={id(tab)}>
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
