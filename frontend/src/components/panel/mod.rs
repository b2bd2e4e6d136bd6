//! The panel beside the timeline: one allocation, the stacks at a moment, the file.

mod about;
mod allocation;
mod stack_view;
mod top_stacks;

use super::tab_keys::tab_keys;
use crate::platform::WorkerClient;
use crate::state::ReadyFile;
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tab {
    Stacks,
    Allocation,
    File,
}

impl Tab {
    /// All tabs in their order.
    const ALL: [Self; 3] = [Self::Stacks, Self::Allocation, Self::File];

    fn id(self) -> &'static str {
        match self {
            Self::Stacks => "tab-stacks",
            Self::Allocation => "tab-allocation",
            Self::File => "tab-file",
        }
    }
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
        Some(hit) => (hit.moment, "At the pin"),
        None => (props.device.peak_moment, "At the peak"),
    };
    let allocation = pinned.as_ref().or(props.hovered.as_ref()).and_then(|hit| hit.allocation.as_ref());
    let on_key = {
        let setter = tab.setter();
        let on_choose = Callback::from(move |next: u32| setter.set(Tab::ALL[next as usize]));
        tab_keys(*tab as u32, Tab::ALL.len() as u32, on_choose)
    };
    let head = |this: Tab| {
        let (setter, is_shown) = (tab.setter(), *tab == this);
        let label = match this {
            Tab::Stacks => stacks_label,
            Tab::Allocation => "Allocation",
            Tab::File => "File",
        };
        html! {
            <button type="button" role="tab" id={this.id()} data-tab={(this as u32).to_string()}
                aria-selected={is_shown.to_string()} tabindex={if is_shown { "0" } else { "-1" }}
                aria-controls="panel-body" onclick={move |_: MouseEvent| setter.set(this)}>{ label }</button>
        }
    };
    html! {
        <aside class="panel" aria-label="Details">
            <div class="panel-tabs" role="tablist" aria-label="Details" onkeydown={on_key}>
                { for Tab::ALL.map(head) }
            </div>
            <div class="panel-body" id="panel-body" role="tabpanel" aria-labelledby={tab.id()}>
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
