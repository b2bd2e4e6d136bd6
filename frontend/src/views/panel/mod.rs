//! Panel next to the timeline, with tabs for findings, stacks at a moment, one allocation, and the file.

pub mod details_model;
pub mod stacks_model;

mod about;
mod allocation;
pub mod own_code;
mod top_stacks;

use super::findings::model::problem_count;
use crate::ask::Hit;
use crate::components::controls::tab_keys;
use crate::hooks::{use_file, use_shown};
use crate::state::{FileAction, PanelTab, ReadyFile};

use self::about::About;
use self::allocation::Allocation;
use self::top_stacks::TopStacks;
use super::findings::FindingList;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct PanelProps {
    /// What the pointer is over.
    pub hovered: Option<Rc<Hit>>,
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
    let (file, shown) = (use_file(), use_shown());
    let ready = &shown.ready;
    let tab = ready.tab;
    let hovered = props.hovered.as_ref().filter(|_| ready.pinned.is_none());
    let allocation = ready.pinned_allocation().or(hovered.and_then(|hit| hit.allocation.as_ref()));
    let on_choose = file.acting(|next: u32| FileAction::ChooseTab(PanelTab::ALL[next as usize]));
    let on_key = tab_keys(tab as u32, PanelTab::ALL.len() as u32, on_choose);
    let head = |this: PanelTab| {
        let is_shown = tab == this;
        let label = match this {
            PanelTab::Findings => findings_label(ready),
            // The stacks are those of the pinned moment, or of the peak if nothing is pinned.
            PanelTab::Stacks => html! { { if ready.pinned.is_some() { "At pin" } else { "At peak" } } },
            PanelTab::Allocation => html! { { "Allocation" } },
            PanelTab::File => html! { { "File" } },
        };
        let onclick = file.acting(move |_: MouseEvent| FileAction::ChooseTab(this));
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
                    PanelTab::Findings => html! { <FindingList /> },
                    PanelTab::Allocation => html! {
                        <Allocation allocation={allocation.map(|found| found.allocation)} />
                    },
                    PanelTab::Stacks => html! { <TopStacks /> },
                    PanelTab::File => html! { <About keep={props.keep.clone()} /> },
                } }
            </div>
        </aside>
    }
}

/// Returns the label of the findings tab; room for the count is reserved before it is known.
fn findings_label(file: &ReadyFile) -> Html {
    let count = file.findings.as_deref().map(problem_count).filter(|&count| count > 0);
    html! {
        <>{ "Findings " }<span class="panel-count numbers">{ for count }</span></>
    }
}
