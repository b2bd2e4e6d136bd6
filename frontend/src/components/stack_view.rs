//! Call stack with its runtime frames folded.

use crate::ask::stack::{StackLine, as_text, folded_count, frame_title, full_place, lines, short_place};
use crate::components::copy_button::CopyButton;

use shared::base::format;
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
    let toggle = {
        let is_unfolded = is_unfolded.clone();
        Callback::from(move |_: MouseEvent| is_unfolded.set(!*is_unfolded))
    };
    let folded = folded_count(frames) as u64;
    let toggle_label = match *is_unfolded {
        true => "Hide runtime frames".to_owned(),
        false => format!("Show {}", format::counted(folded, "runtime frame")),
    };
    let line = |line: StackLine| match line {
        StackLine::Frame { position, is_runtime } => frame_line(&frames[position], is_runtime),
        StackLine::Fold(count) => fold_line(count, &toggle),
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

fn fold_line(count: usize, on_unfold: &Callback<MouseEvent>) -> Html {
    let text = format::counted(count as u64, "runtime frame");
    html! { <li class="fold"><button type="button" onclick={on_unfold.clone()}>{ text }</button></li> }
}
