//! One-line summary of a stack that opens to its frames.

use super::stack_view::StackView;
use crate::ask::stack::Heading;

use shared::report::Frame;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct StackRowProps {
    pub heading: Heading,
    /// Figures of the memory that the stack holds, if known.
    #[prop_or_default]
    pub figures: Option<RowFigures>,
    /// Frames, innermost first.
    pub frames: Rc<Vec<Frame>>,
}

/// Formatted figures of a stack's memory.
#[derive(Clone, PartialEq)]
pub struct RowFigures {
    pub size: String,
    /// Share and number of allocations.
    pub note: String,
    /// Length of the bar, as a percentage of the longest one.
    pub bar: f64,
}

/// Shows the line; its frames are added to the document only when opened, because fifty stacks have thousands of them.
#[component]
pub fn StackRow(props: &StackRowProps) -> Html {
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
                    { "No stack was recorded, as is common for memory that was allocated before recording and for the autograd engine" }
                </p>
            } else if *is_open {
                <StackView title="Stack" frames={props.frames.clone()} />
            }
        </li>
    }
}
