//! One-line summary of a stack that opens to its frames.

use super::stack_view::StackView;
use shared::base::StackLabel;
use shared::report::Frame;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct StackRowProps {
    pub label: StackLabel,
    /// Figures of the memory that the stack holds, if known.
    #[prop_or_default]
    pub figures: Option<RowFigures>,
    /// Frames, innermost first.
    pub frames: Rc<Vec<Frame>>,
    /// True if the stack's allocations are selected.
    #[prop_or_default]
    pub is_selected: bool,
    /// Called with true when the row is opened, with false when it is closed.
    #[prop_or_default]
    pub on_open: Option<Callback<bool>>,
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
    let StackLabel { title, place, leaf, differs } = &props.label;
    let onclick = {
        let (is_open, on_open) = (is_open.clone(), props.on_open.clone());
        move |_: MouseEvent| {
            is_open.set(!*is_open);
            if let Some(on_open) = &on_open {
                on_open.emit(!*is_open);
            }
        }
    };
    html! {
        <li class="top-stack" aria-current={props.is_selected.then_some("true")}>
            <button type="button" class="top-stack-head" aria-expanded={is_open.to_string()} {onclick}>
                <span class="top-stack-title" title={props.label.text()}>
                    { title }
                    if !place.is_empty() { <span class="top-stack-at">{ " " }{ place }</span> }
                </span>
                if let Some(figures) = &props.figures {
                    <span class="top-stack-size numbers">{ &figures.size }</span>
                }
                <span class="top-stack-place">
                    if !leaf.is_empty() { { "→ " }{ leaf } }
                    if !differs.is_empty() { { if leaf.is_empty() { "· " } else { " · " } }{ differs } }
                </span>
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
