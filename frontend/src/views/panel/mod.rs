//! Panel next to the timeline, with tabs for findings, stacks at a moment, one allocation, and the file.

pub mod details_model;
pub mod stacks_model;

mod about;
mod allocation;
pub mod own_code;
mod top_stacks;

use super::findings::evidence::Shown;
use super::findings::model::problem_count;
use super::findings::trying::Tried;
use crate::ask::{DeviceFigures, Hit, Kind, KindFacts, NameMark, Readable};
use crate::components::tab_keys::tab_keys;
use crate::platform::WorkerClient;
use crate::state::{PanelTab, ReadyFile, ThisCard, TimelineCommand};

use self::about::About;
use self::allocation::Allocation;
use self::top_stacks::TopStacks;
use super::findings::FindingList;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct PanelProps {
    pub client: WorkerClient,
    pub file: ReadyFile,
    /// Name of the file.
    pub name: AttrValue,
    /// Figures of the shown device.
    pub device: Rc<DeviceFigures>,
    /// What the pointer is over.
    pub hovered: Option<Rc<Hit>>,
    /// Totals of the selected kind, once they are known.
    pub facts: Option<Rc<Readable<KindFacts>>>,
    /// Called with a kind to select, and with `None` to select none.
    pub on_kind: Callback<Option<Kind>>,
    /// Called with a command to the timeline.
    pub on_command: Callback<TimelineCommand>,
    pub on_unpin: Callback<()>,
    pub on_tab: Callback<PanelTab>,
    /// Called with the evidence to show in the timeline.
    pub on_show: Callback<Shown>,
    /// Called with settings to replay in What if.
    pub on_try: Callback<Tried>,
    /// Called with the position of the device to show.
    pub on_device: Callback<u32>,
    /// Called with the chosen card, or with `None` for no card.
    pub on_card: Callback<Option<ThisCard>>,
    /// Called with the chosen rule for the user's own code.
    pub on_own: Callback<Rc<str>>,
    /// Called when a part of the file should be chosen.
    pub on_part: Callback<()>,
    /// Control for keeping the file in the browser across reloads.
    pub keep: Html,
}

fn id(tab: PanelTab) -> &'static str {
    match tab {
        PanelTab::Findings => "tab-findings",
        PanelTab::Stacks => "tab-stacks",
        PanelTab::Allocation => "tab-allocation",
        PanelTab::File => "tab-file",
    }
}

/// Shows the panel's tabs and the chosen one.
#[component]
pub fn Panel(props: &PanelProps) -> Html {
    let tab = props.file.tab;
    let pinned = props.file.pinned.clone();
    // The stacks are those of the pinned moment, or of the peak if nothing is pinned.
    let (moment, stacks_label) = match &pinned {
        Some(hit) => (hit.moment, "At pin"),
        None => (props.device.peak_moment, "At peak"),
    };
    let allocation = pinned.as_ref().or(props.hovered.as_ref()).and_then(|hit| hit.allocation.as_ref());
    let on_choose = props.on_tab.reform(|next: u32| PanelTab::ALL[next as usize]);
    let on_key = tab_keys(tab as u32, PanelTab::ALL.len() as u32, on_choose);
    let head = |this: PanelTab| {
        let is_shown = tab == this;
        let label = match this {
            PanelTab::Findings => findings_label(&props.file),
            PanelTab::Stacks => html! { { stacks_label } },
            PanelTab::Allocation => html! { { "Allocation" } },
            PanelTab::File => html! { { "File" } },
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
            <div class="panel-body" id="panel-body" role="tabpanel" tabindex="0" aria-labelledby={id(tab)}>
                { match tab {
                    PanelTab::Findings => html! {
                        <FindingList client={props.client.clone()} file={props.file.clone()} name={props.name.clone()}
                            on_show={props.on_show.clone()} on_try={props.on_try.clone()} on_device={props.on_device.clone()}
                            on_card={props.on_card.clone()} />
                    },
                    PanelTab::Allocation => html! {
                        <Allocation client={props.client.clone()} device={props.device.clone()}
                            allocation={allocation.map(|found| found.allocation)}
                            parts={props.file.shown_parts().cloned()} moment={(moment, pinned.is_some())}
                            kind={props.file.pinned_kind().map(|own| (props.file.kind.as_deref() == Some(&own), own))}
                            is_pinned={pinned.is_some()} on_unpin={props.on_unpin.clone()}
                            on_kind={props.on_kind.clone()} on_command={props.on_command.clone()} />
                    },
                    PanelTab::Stacks => html! {
                        <TopStacks client={props.client.clone()} device={props.device.device} {moment}
                            selected={selected_stack(props)} on_kind={props.on_kind.clone()}
                            own={props.file.choices.own.clone()} on_own={props.on_own.clone()} />
                    },
                    PanelTab::File => html! {
                        <About summary={props.file.summary.clone()} device={props.device.clone()}
                            on_part={props.on_part.clone()} keep={props.keep.clone()} />
                    },
                } }
            </div>
        </aside>
    }
}

/// Returns the mark of the stack whose allocations are selected.
fn selected_stack(props: &PanelProps) -> Option<NameMark> {
    props.facts.as_deref()?.as_ref().ok()?.stack
}

/// Returns the label of the findings tab; room for the count is reserved before it is known.
fn findings_label(file: &ReadyFile) -> Html {
    let count = file.findings.as_deref().map(problem_count).filter(|&count| count > 0);
    html! {
        <>{ "Findings " }<span class="panel-count numbers">{ for count }</span></>
    }
}
