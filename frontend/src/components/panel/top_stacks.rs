//! The stacks that hold the memory of a moment.

use super::stack_view::StackView;
use crate::hooks::use_stacks;
use crate::platform::WorkerClient;
use crate::view::top_stacks::{TopStack, rest, rows, when};
use crate::worker::FrameText;
use shared::base::format;
use std::rc::Rc;
use yew::prelude::*;

/// What the [`TopStacks`] shows.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct TopStacksProps {
    /// The worker of the file.
    pub(super) client: WorkerClient,
    /// The device, by position.
    pub(super) device: u32,
    /// The moment.
    pub(super) moment: u32,
}

/// The stacks with bars, largest first; each opens to its frames.
#[component]
pub(super) fn TopStacks(props: &TopStacksProps) -> Html {
    let Some(stacks) = use_stacks(&props.client, props.device, props.moment) else {
        return html! { <p class="panel-empty">{ "Summing up…" }</p> };
    };
    if stacks.rows.is_empty() {
        return html! { <p class="panel-empty">{ "Nothing is live at this moment" }</p> };
    }
    let moment = stacks.moment;
    let lines = rows(&stacks).into_iter().zip(&stacks.rows).enumerate();
    html! {
        <section class="top-stacks">
            <p class="panel-lead numbers">
                <strong>{ format::bytes(stacks.live_bytes) }</strong>{ format!(" live {}, by stack", when(moment)) }
            </p>
            <ol>
                { for lines.map(|(rank, (row, data))| html! { <Line key={format!("{moment}/{rank}")} {row} frames={Rc::new(data.frames.clone())} /> }) }
            </ol>
            if let Some(rest) = rest(&stacks) { <p class="panel-empty numbers">{ rest }</p> }
        </section>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct LineProps {
    row: TopStack,
    frames: Rc<Vec<FrameText>>,
}

/// The frames of a closed line are not in the page: fifty stacks have thousands of them.
#[component]
fn Line(props: &LineProps) -> Html {
    let is_open = use_state_eq(|| false);
    let row = &props.row;
    let onclick = {
        let is_open = is_open.clone();
        move |_: MouseEvent| is_open.set(!*is_open)
    };
    html! {
        <li class="top-stack">
            <button type="button" class="top-stack-head" aria-expanded={is_open.to_string()} {onclick}>
                <span class="top-stack-title">
                    { &row.title }
                    if !row.callee.is_empty() { <span class="top-stack-callee">{ " → " }{ &row.callee }</span> }
                </span>
                <span class="top-stack-size numbers">{ &row.size }</span>
                <span class="top-stack-place">{ &row.place }</span>
                <span class="top-stack-share numbers">{ format!("{}, {}", row.share, row.count) }</span>
                <svg class="bar" height="4" aria-hidden="true"><rect width={format!("{:.2}%", row.bar)} height="4" rx="2" /></svg>
            </button>
            if *is_open && props.frames.is_empty() {
                <p class="panel-empty">
                    { "Memory from before the trace often has no stack, nor has what the autograd engine allocates" }
                </p>
            } else if *is_open {
                <StackView title="Stack" frames={props.frames.clone()} />
            }
        </li>
    }
}
