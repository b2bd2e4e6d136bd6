//! Dock below the timeline, which shows one view at a time of what the timeline shows.

mod allocations;
mod compare;
mod flame;
mod grip;
mod long_table;
mod picture;
mod scope_bar;
mod segments;
mod select;
mod what_if;

use self::allocations::AllocationsView;
use self::compare::Compare;
use self::flame::FlameView;
use self::grip::Grip;
use self::picture::{Easel, picture_buttons};
pub use self::scope_bar::{SEARCH_ID, ScopeBar, ScopeBarProps};
use self::segments::Segments;
use self::what_if::WhatIf;
use super::icon::{Icon, IconName};
use super::sheet_buttons::SheetButtons;
use super::tab_keys::tab_keys;
use crate::hooks::{Peer, Seen, SelectingHandle, use_awaited_group};
use crate::platform::WorkerClient;
use crate::state::{Choice, DockTab, FileAction, FileId, ReadyFile, Scheme, TimelineCommand};
use crate::worker::{DeviceFigures, Hit, SheetOf, WhatIfSetup};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct DockProps {
    pub id: FileId,
    /// All open files, including this one.
    pub peers: Vec<Peer>,
    /// Connection to the file's Web Worker.
    pub client: WorkerClient,
    pub file: ReadyFile,
    /// Figures of the shown device.
    pub device: Rc<DeviceFigures>,
    /// True if ranks are compared instead of moments.
    pub are_ranks: bool,
    pub scheme: Scheme,
    /// Part of the timeline in view when it last rested; `None` before the first drawing.
    pub seen: Option<Seen>,
    /// Called with the tab to open, or with `None` to close the dock.
    pub on_dock: Callback<Option<DockTab>>,
    /// Called with the allocation to pin, or with `None` to unpin.
    pub on_pin: Callback<Option<Hit>>,
    /// Called with a command that moves the timeline.
    pub on_command: Callback<TimelineCommand>,
    /// Called with each choice made in one of the views.
    pub on_choose: Callback<Choice>,
    /// Called to show another file or device.
    pub on_action: Callback<FileAction>,
    /// Called with true to compare ranks, with false to compare moments.
    pub on_ranks: Callback<bool>,
    /// Settings under which requests are replayed; `None` until the What if tab was opened.
    pub what_if: Option<Rc<WhatIfSetup>>,
    /// Called with other settings for the replay.
    pub on_what_if: Callback<WhatIfSetup>,
    /// Called with files to open.
    pub on_files: Callback<Vec<web_sys::File>>,
}

impl DockProps {
    fn file_name(&self) -> AttrValue {
        self.peers.iter().find(|peer| peer.id == self.id).map(|peer| peer.name.clone().into()).unwrap_or_default()
    }

    /// Returns buttons that save a table of the file.
    fn sheet_buttons(&self, table: impl Into<AttrValue>, of: impl Fn() -> SheetOf + 'static) -> Html {
        let of = Callback::from(move |()| of());
        let (client, device, file, table) = (self.client.clone(), self.device.device, self.file_name(), table.into());
        html! { <SheetButtons {client} {device} {file} {table} {of} /> }
    }
}

fn id(tab: DockTab) -> &'static str {
    match tab {
        DockTab::Flame => "dock-flame",
        DockTab::Allocations => "dock-allocations",
        DockTab::Segments => "dock-segments",
        DockTab::WhatIf => "dock-what-if",
        DockTab::Compare => "dock-compare",
    }
}

fn label(tab: DockTab) -> &'static str {
    match tab {
        DockTab::Flame => "Flame graph",
        DockTab::Allocations => "Allocations",
        DockTab::Segments => "Segments",
        DockTab::WhatIf => "What if",
        DockTab::Compare => "Compare",
    }
}

/// Shows the tabs, and the open view below them; a click on its tab closes the dock.
#[component]
pub fn Dock(props: &DockProps) -> Html {
    let dock = use_node_ref();
    let selecting = SelectingHandle::new(&props.file.choices, &props.on_choose);
    use_awaited_group(&selecting, &props.client, props.device.device);
    let easel = (*use_memo((), |()| Easel::default())).clone();
    let open = props.file.dock;
    let on_choose = props.on_dock.reform(|next: u32| Some(DockTab::ALL[next as usize]));
    let on_key = tab_keys(open.map_or(0, |tab| tab as u32), DockTab::ALL.len() as u32, on_choose);
    let head = |this: DockTab| {
        let is_shown = open == Some(this);
        let onclick = props.on_dock.reform(move |_: MouseEvent| (!is_shown).then_some(this));
        // One tab can always be reached by the Tab key, even while the dock is closed.
        let is_stop = is_shown || (open.is_none() && this == DockTab::ALL[0]);
        html! {
            <button type="button" role="tab" id={id(this)} data-tab={(this as u32).to_string()}
                aria-selected={is_shown.to_string()} tabindex={if is_stop { "0" } else { "-1" }}
                aria-controls={open.map(|_| "dock-body")} {onclick}>{ label(this) }</button>
        }
    };
    html! {
        <section class="dock" data-open={open.map(|_| "")} aria-label="More views" ref={dock.clone()}>
            if open.is_some() { <Grip dock={dock.clone()} /> }
            <div class="dock-head">
                <div class="panel-tabs" role="tablist" aria-label="More views" onkeydown={on_key}>
                    { for DockTab::ALL.map(head) }
                </div>
                if let Some(tab) = open {
                    <div class="dock-actions">
                        { picture_buttons(tab, props, &easel) }
                        <button type="button" class="button quiet square" aria-label="Close" title="Close"
                            onclick={props.on_dock.reform(|_: MouseEvent| None)}><Icon name={IconName::Close} /></button>
                    </div>
                }
            </div>
            if let Some(tab) = open {
                <div class="dock-body" id="dock-body" role="tabpanel" aria-labelledby={id(tab)}>
                    <ContextProvider<SelectingHandle> context={selecting}>
                        <ContextProvider<Easel> context={easel}>{ body(tab, props) }</ContextProvider<Easel>>
                    </ContextProvider<SelectingHandle>>
                </div>
            }
        </section>
    }
}

fn body(tab: DockTab, props: &DockProps) -> Html {
    match tab {
        DockTab::Flame => html! { <FlameView dock={props.clone()} /> },
        DockTab::Allocations => html! { <AllocationsView dock={props.clone()} /> },
        DockTab::Segments => html! { <Segments dock={props.clone()} /> },
        DockTab::Compare => html! { <Compare ..props.clone() /> },
        DockTab::WhatIf => html! { <WhatIf dock={props.clone()} /> },
    }
}
