//! Frames of a stack, and one-line summaries of stacks that open to them.

use super::buttons::CopyButton;
use super::controls::{bound, toggling};
use super::pieces::empty;
use crate::ask::stack::{StackLine, as_text, folded_count, frame_title, full_place, lines, short_place};
use shared::base::{StackLabel, format};
use shared::report::Frame;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct StackViewProps {
    pub title: AttrValue,
    /// Frames, innermost first.
    pub frames: Rc<Vec<Frame>>,
}

/// Shows the frames of a stack, innermost first, and buttons to unfold and to copy them.
#[component]
pub fn StackView(props: &StackViewProps) -> Html {
    let is_unfolded = use_state_eq(|| false);
    let frames = &props.frames;
    let toggle = toggling(&is_unfolded);
    let folded = folded_count(frames) as u64;
    let toggle_label = match *is_unfolded {
        true => "Hide runtime frames".to_owned(),
        false => format!("Show {}", format::counted(folded, "runtime frame")),
    };
    let line = |line: StackLine| match line {
        StackLine::Frame { position, is_runtime } => frame_line(&frames[position], is_runtime),
        StackLine::Fold(count) => {
            let text = format::counted(count as u64, "runtime frame");
            html! { <li class="fold"><button type="button" onclick={toggle.clone()}>{ text }</button></li> }
        }
    };
    html! {
        <section class="stack" data-stack="">
            <header class="stack-head">
                <h3>{ &props.title }</h3>
                <CopyButton label="Copy" text={as_text(frames)} />
            </header>
            <ol class="frames">{ for lines(frames, *is_unfolded).into_iter().map(line) }</ol>
            if folded > 0 {
                <button type="button" class="button quiet" onclick={toggle.clone()}>{ toggle_label }</button>
            }
        </section>
    }
}

fn frame_line(frame: &Frame, is_runtime: bool) -> Html {
    let title = format!("{}\n{}", frame.name, full_place(frame));
    html! {
        <li class={classes!("frame", is_runtime.then_some("runtime"))} {title}>
            <span class="frame-name">{ frame_title(frame) }</span>
            <span class="frame-place">{ short_place(frame) }</span>
            if let Some(fx) = &frame.fx { <span class="frame-fx">{ fx }</span> }
        </li>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub struct StackRowProps {
    pub label: StackLabel,
    /// Figures of the memory that the stack holds, if known.
    #[prop_or_default]
    pub figures: Option<RowFigures>,
    /// Frames, innermost first.
    pub frames: Rc<Vec<Frame>>,
    #[prop_or_default]
    pub is_selected: bool,
    /// Called with true when the row is opened, with false when it is closed.
    #[prop_or_default]
    pub on_open: Option<Callback<bool>>,
}

#[derive(Clone, PartialEq)]
pub struct RowFigures {
    pub size: String,
    pub note: String,
    /// Length of the bar, as a percentage of the longest one.
    pub bar: f64,
}

/// Shows the line; its frames are added to the document only when opened, because fifty stacks have thousands of them.
#[component]
pub fn StackRow(props: &StackRowProps) -> Html {
    let is_open = use_state_eq(|| false);
    let StackLabel { title, place, leaf, differs } = &props.label;
    let onclick = bound((is_open.clone(), props.on_open.clone()), move |(is_open, on_open), _: MouseEvent| {
        is_open.set(!**is_open);
        if let Some(on_open) = on_open {
            on_open.emit(!**is_open);
        }
    });
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
                if !differs.is_empty() { <span class="top-stack-differs">{ differs }</span> }
                <span class="top-stack-place">if !leaf.is_empty() { { "→ " }{ leaf } }</span>
                if let Some(figures) = &props.figures {
                    <span class="top-stack-share numbers">{ &figures.note }</span>
                    <svg class="bar" height="4" aria-hidden="true"><rect width={format!("{:.2}%", figures.bar)} height="4" rx="2" /></svg>
                }
            </button>
            if *is_open && props.frames.is_empty() {
                { empty("No stack was recorded, as is common for memory that was allocated before recording and for the autograd engine") }
            } else if *is_open {
                <StackView title="Stack" frames={props.frames.clone()} />
            }
        </li>
    }
}
