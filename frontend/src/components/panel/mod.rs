//! The panel beside the timeline: one allocation, the stacks at a moment, the file.

mod about;
mod allocation;
mod stack_view;
mod top_stacks;

use super::tab_keys::tab_keys;
use crate::platform::WorkerClient;
use crate::state::{PanelTab, ReadyFile};
use crate::worker::{DeviceFigures, Hit};
use about::About;
use allocation::Allocation;
use std::rc::Rc;
use top_stacks::TopStacks;
use yew::prelude::*;

/// What the [`Panel`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub struct PanelProps {
    /// The worker of the file.
    pub client: WorkerClient,
    /// The file.
    pub file: ReadyFile,
    /// The shown device.
    pub device: Rc<DeviceFigures>,
    /// What is under the pointer.
    pub hovered: Option<Rc<Hit>>,
    /// The pinned allocation was let go.
    pub on_unpin: Callback<()>,
    /// A tab was chosen.
    pub on_tab: Callback<PanelTab>,
}

fn id(tab: PanelTab) -> &'static str {
    match tab {
        PanelTab::Stacks => "tab-stacks",
        PanelTab::Allocation => "tab-allocation",
        PanelTab::File => "tab-file",
    }
}

/// The panel; a click on an allocation brings its tab to the front.
#[component]
pub fn Panel(props: &PanelProps) -> Html {
    let tab = props.file.tab;
    let pinned = props.file.pinned.clone();
    // A pinned moment is the one to explain; without one it is the peak.
    let (moment, stacks_label) = match &pinned {
        Some(hit) => (hit.moment, "At the pin"),
        None => (props.device.peak_moment, "At the peak"),
    };
    let allocation = pinned.as_ref().or(props.hovered.as_ref()).and_then(|hit| hit.allocation.as_ref());
    let on_choose = props.on_tab.reform(|next: u32| PanelTab::ALL[next as usize]);
    let on_key = tab_keys(tab as u32, PanelTab::ALL.len() as u32, on_choose);
    let head = |this: PanelTab| {
        let is_shown = tab == this;
        let label = match this {
            PanelTab::Stacks => stacks_label,
            PanelTab::Allocation => "Allocation",
            PanelTab::File => "File",
        };
        let onclick = props.on_tab.reform(move |_: MouseEvent| this);
        html! {
            <button type="button" role="tab" id={id(this)} data-tab={(this as u32).to_string()}
                aria-selected={is_shown.to_string()} tabindex={if is_shown { "0" } else { "-1" }}
                aria-controls="panel-body" {onclick}>{ label }</button>
        }
    };
    html! {
        <aside class="panel" aria-label="Details">
            <div class="panel-tabs" role="tablist" aria-label="Details" onkeydown={on_key}>
                { for PanelTab::ALL.map(head) }
            </div>
            <div class="panel-body" id="panel-body" role="tabpanel" aria-labelledby={id(tab)}>
                { match tab {
                    PanelTab::Allocation => html! {
                        <Allocation client={props.client.clone()} device={props.device.clone()}
                            allocation={allocation.map(|found| found.allocation)}
                            is_pinned={pinned.is_some()} on_unpin={props.on_unpin.clone()} />
                    },
                    PanelTab::Stacks => html! {
                        <TopStacks client={props.client.clone()} device={props.device.device} {moment} />
                    },
                    PanelTab::File => html! { <About summary={props.file.summary.clone()} device={props.device.clone()} /> },
                } }
            </div>
        </aside>
    }
}
