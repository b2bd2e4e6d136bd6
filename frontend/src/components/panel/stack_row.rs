//! A stack in one line that opens to its frames.

use super::stack_view::StackView;
use crate::view::top_stacks::Heading;

use shared::report::Frame;
use std::rc::Rc;
use yew::prelude::*;

/// What a [`StackRow`] shows.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct StackRowProps {
    /// What the stack is called.
    pub(super) heading: Heading,
    /// What it holds, where that is known.
    #[prop_or_default]
    pub(super) figures: Option<RowFigures>,
    /// The stack, innermost first.
    pub(super) frames: Rc<Vec<Frame>>,
}

/// What a stack holds, in words.
#[derive(Clone, PartialEq)]
pub(super) struct RowFigures {
    /// Its bytes.
    pub(super) size: String,
    /// Its share and its count.
    pub(super) note: String,
    /// The length of its bar, as a percentage of the longest one.
    pub(super) bar: f64,
}

/// The frames of a closed line are not in the page: fifty stacks have thousands of them.
#[component]
pub(super) fn StackRow(props: &StackRowProps) -> Html {
    let is_open = use_state_eq(|| false);
    let Heading { title, callee, place } = &props.heading;
    let onclick = {
        let is_open = is_open.clone();
        move |_: MouseEvent| is_open.set(!*is_open)
    };
    html! {
        <li class="top-stack">
            <button type="button" class="top-stack-head" aria-expanded={is_open.to_string()} {onclick}>
                <span class="top-stack-title">
                    { title }
                    if !callee.is_empty() { <span class="top-stack-callee">{ " → " }{ callee }</span> }
                </span>
                if let Some(figures) = &props.figures {
                    <span class="top-stack-size numbers">{ &figures.size }</span>
                }
                <span class="top-stack-place">{ place }</span>
                if let Some(figures) = &props.figures {
                    <span class="top-stack-share numbers">{ &figures.note }</span>
                    <svg class="bar" height="4" aria-hidden="true"><rect width={format!("{:.2}%", figures.bar)} height="4" rx="2" /></svg>
                }
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
