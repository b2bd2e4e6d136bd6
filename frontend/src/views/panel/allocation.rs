//! Panel tab for one allocation, with facts and stack.

use super::details_model::{Fact, exact_bytes, facts};
use crate::ask::{Details, DeviceFigures};
use crate::components::icon::{Icon, IconName};
use crate::components::stack_view::StackView;
use crate::hooks::use_details;
use crate::platform::WorkerClient;
use shared::base::format;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct AllocationProps {
    pub(super) client: WorkerClient,
    /// Figures of the shown device.
    pub(super) device: Rc<DeviceFigures>,
    /// Position of the allocation.
    pub(super) allocation: Option<u32>,
    /// True if the allocation stays when the pointer moves on.
    pub(super) is_pinned: bool,
    pub(super) on_unpin: Callback<()>,
}

/// Shows the details of the pinned allocation, or of the one under the pointer.
#[component]
pub(super) fn Allocation(props: &AllocationProps) -> Html {
    let details = use_details(&props.client, props.device.device, props.allocation);
    let Some(details) = details else {
        return html! {
            <p class="panel-empty">{ "Point at an allocation in the timeline to see its details, or click to pin it" }</p>
        };
    };
    let on_unpin = props.on_unpin.reform(|_: MouseEvent| ());
    html! {
        <article class={classes!("allocation", props.is_pinned.then_some("pinned"))}
            aria-label={if props.is_pinned { "Pinned allocation" } else { "Allocation" }}
            data-allocation={details.allocation.to_string()}>
            <header class="allocation-head numbers">
                <h2 class="allocation-size">{ format::bytes(details.size_bytes) }</h2>
                <span class="fact-note">{ exact_bytes(details.size_bytes) }</span>
                if props.is_pinned {
                    <button type="button" class="button quiet unpin" onclick={on_unpin} title="Unpin (Esc)">
                        <Icon name={IconName::Pin} />{ "Pinned" }
                    </button>
                }
            </header>
            <dl class="facts">{ for facts(&details, props.device.summary.events).iter().map(fact) }</dl>
            { stack(&details) }
            { forward_stack(&details) }
        </article>
    }
}

fn fact(fact: &Fact) -> Html {
    html! {
        <div class="fact">
            <dt>{ fact.label }</dt>
            <dd class="numbers">
                { &fact.value }
                if !fact.note.is_empty() { <span class="fact-note">{ &fact.note }</span> }
            </dd>
        </div>
    }
}

fn stack(details: &Details) -> Html {
    let title = if details.is_free_stack { "Stack where it was freed" } else { "Stack" };
    if details.frames.is_empty() {
        let reason = match details.is_initial {
            true => "No stack was recorded, because this was allocated before recording",
            false => "No stack was recorded, which is common for the autograd engine and some libraries",
        };
        return html! { <p class="panel-empty">{ reason }</p> };
    }
    html! { <StackView {title} frames={Rc::new(details.frames.clone())} /> }
}

fn forward_stack(details: &Details) -> Html {
    if details.forward_frames.is_empty() {
        return Html::default();
    }
    html! {
        <details class="forward">
            <summary>{ "Stack of the forward pass" }</summary>
            <pre>{ details.forward_frames.join("\n") }</pre>
        </details>
    }
}
