//! Panel tab for one allocation, with facts and stack.

use super::model::{Fact, exact_bytes, facts, kind_text, near_texts};
use crate::ask::{Around, Details, GetAround, GetDetails, NearEvent};
use crate::components::{IconName, StackView, empty, fact, icon};
use crate::hooks::{FileHandle, ShownFile, use_asked, use_file, use_shown};
use crate::state::{FileAction, TimelineCommand};
use shared::base::format;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct AllocationProps {
    /// Position of the pinned allocation, or else of the one under the pointer.
    pub(super) allocation: Option<u32>,
}

#[component]
pub(super) fn Allocation(props: &AllocationProps) -> Html {
    let (file, shown) = (use_file(), use_shown());
    let (ready, device, moment) = (&shown.ready, shown.device.device, shown.moment().0);
    let is_pinned = ready.pinned.is_some();
    let details = use_asked(props.allocation.map(|allocation| GetDetails { device, allocation }));
    // Moving the pointer over the plot must not ask for more than the details.
    let pinned = props.allocation.filter(|_| is_pinned);
    let around = use_asked(pinned.map(|allocation| GetAround { device, allocation, moment }));
    let around = around.filter(|around| Some(around.allocation) == pinned);
    let Some(details) = details else {
        return empty("Point at an allocation in the timeline to see its details, or click to pin it");
    };
    let on_unpin = file.acting(|_: MouseEvent| FileAction::Pin(None));
    let around = around.as_deref();
    let facts = facts(&details, shown.device.summary.events, around, ready.shown_parts().map(Rc::as_ref));
    html! {
        <article class={classes!("allocation", is_pinned.then_some("pinned"))}
            aria-label={if is_pinned { "Pinned allocation" } else { "Allocation" }}
            data-allocation={details.allocation.to_string()}>
            <header class="allocation-head numbers">
                <h2 class="allocation-size">{ format::bytes(details.size_bytes) }</h2>
                <span class="fact-note">{ exact_bytes(details.size_bytes) }</span>
                if is_pinned {
                    <button type="button" class="button quiet unpin" onclick={on_unpin} title="Unpin (Esc)">
                        { icon(IconName::Pin) }{ "Pinned" }
                    </button>
                }
            </header>
            { kind_button(&file, &shown, around) }
            <dl class="facts">
                { for facts.iter().map(|Fact { label, value, note }| fact(label, value, note)) }
            </dl>
            { stack(&details) }
            if !details.forward_frames.is_empty() {
                <details class="forward">
                    <summary>{ "Stack of the forward pass" }</summary>
                    <pre>{ details.forward_frames.join("\n") }</pre>
                </details>
            }
            if let Some(around) = around {
                if !around.free_frames.is_empty() {
                    <details class="forward">
                        <summary>{ "Stack where it was freed" }</summary>
                        <StackView title="Freed by" frames={Rc::new(around.free_frames.clone())} />
                    </details>
                }
                { near(&file, "Around its allocation", &around.near_alloc) }
                { near(&file, "Around its free", &around.near_free) }
            }
        </article>
    }
}

/// Shows a button that selects all allocations of the pinned one's kind, with their number and their bytes.
fn kind_button(file: &FileHandle, shown: &ShownFile, around: Option<&Around>) -> Html {
    let (Some(kind), Some(around)) = (shown.ready.pinned_kind(), around) else {
        // The room is kept, so that nothing moves when the numbers arrive.
        return html! { if shown.ready.pinned.is_some() { <p class="allocation-kind"></p> } };
    };
    let is_selected = shown.ready.kind.as_deref() == Some(&kind);
    let onclick = file.acting(move |_: MouseEvent| FileAction::SelectKind((!is_selected).then(|| kind.clone())));
    let title = if is_selected { "Clear the selection (K)" } else { "Select them in all views (K)" };
    html! {
        <p class="allocation-kind">
            <button type="button" class="button numbers" aria-pressed={is_selected.to_string()} {title} {onclick}>
                { kind_text(around, shown.moment().1) }
            </button>
        </p>
    }
}

/// Lists events; each pins the allocation that it is about.
fn near(file: &FileHandle, title: &'static str, events: &[NearEvent]) -> Html {
    let line = |near: &NearEvent| {
        let [number, size, place] = near_texts(near);
        let moment = near.event + u32::from(near.is_alloc);
        let onclick = near.key.map(|key| file.commanding(move |_: MouseEvent| TimelineCommand::Pin { key, moment }));
        html! {
            <li aria-current={near.is_own.then_some("true")}>
                <button type="button" class="near numbers" title={format!("event {number}, {place}")} {onclick}>
                    <span>{ number }</span><strong>{ size }</strong><span>{ place }</span>
                </button>
            </li>
        }
    };
    html! {
        if !events.is_empty() {
            <details class="forward near-events">
                <summary>{ title }</summary>
                <ol>{ for events.iter().map(line) }</ol>
            </details>
        }
    }
}

fn stack(details: &Details) -> Html {
    let title = if details.is_free_stack { "Stack where it was freed" } else { "Stack" };
    match (details.frames.is_empty(), details.is_initial) {
        (true, true) => empty("No stack was recorded, because this was allocated before recording"),
        (true, false) => empty("No stack was recorded, which is common for the autograd engine and some libraries"),
        (false, _) => html! { <StackView {title} frames={Rc::new(details.frames.clone())} /> },
    }
}
