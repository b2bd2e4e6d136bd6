//! The panel beside the timeline: one allocation, the stacks at a moment, the file.

mod about;
mod allocation;
mod stack_view;
mod top_stacks;

use crate::platform::WorkerClient;
use crate::state::ReadyFile;
use crate::worker::{DeviceFigures, Hit};
use about::About;
use allocation::Allocation;
use shared::base::format;
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tab {
    Allocation,
    Stacks,
    File,
}

/// The panel; a click on an allocation brings its tab to the front.
#[component]
pub fn Panel(props: &PanelProps) -> Html {
    let tab = use_state_eq(|| Tab::Stacks);
    let pinned = props.file.pinned.clone();
    use_effect_with(pinned.clone(), {
        let tab = tab.setter();
        move |pinned| {
            if pinned.is_some() {
                tab.set(Tab::Allocation);
            }
        }
    });
    // A pinned moment is the one to explain; without one it is the peak.
    let (moment, stacks_label) = match &pinned {
        Some(hit) => (hit.moment, format!("At moment {}", format::count(u64::from(hit.moment)))),
        None => (props.device.peak_moment, "At the peak".to_owned()),
    };
    let allocation = pinned.as_ref().or(props.hovered.as_ref()).and_then(|hit| hit.allocation.as_ref());
    let head = |this: Tab, label: &str| {
        let (onclick, is_shown) = (tab.setter(), *tab == this);
        let id = tab_id(this);
        html! {
            <button type="button" role="tab" {id} aria-selected={is_shown.to_string()} aria-controls="panel-body"
                onclick={move |_: MouseEvent| onclick.set(this)}>{ label }</button>
        }
    };
    html! {
        <aside class="panel" aria-label="Details">
            <div class="panel-tabs" role="tablist" aria-label="Details">
                { head(Tab::Stacks, &stacks_label) }
                { head(Tab::Allocation, "Allocation") }
                { head(Tab::File, "File") }
            </div>
            <div class="panel-body" id="panel-body" role="tabpanel" aria-labelledby={tab_id(*tab)}>
                { match *tab {
                    Tab::Allocation => html! {
                        <Allocation client={props.client.clone()} device={props.device.clone()}
                            allocation={allocation.map(|found| found.allocation)}
                            is_pinned={pinned.is_some()} on_unpin={props.on_unpin.clone()} />
                    },
                    Tab::Stacks => html! {
                        <TopStacks client={props.client.clone()} device={props.device.device} {moment} />
                    },
                    Tab::File => html! { <About summary={props.file.summary.clone()} device={props.device.clone()} /> },
                } }
            </div>
        </aside>
    }
}

fn tab_id(tab: Tab) -> &'static str {
    match tab {
        Tab::Allocation => "tab-allocation",
        Tab::Stacks => "tab-stacks",
        Tab::File => "tab-file",
    }
}
