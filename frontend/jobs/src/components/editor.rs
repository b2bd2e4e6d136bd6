//! The text of a config with line numbers; lines with problems are marked.
//!
//! The lines behind the text scroll with it, as the field is as high as its text: nothing has to follow anything.

use shared::job::Problem;
use web_sys::HtmlTextAreaElement;
use yew::prelude::*;

/// Lines that the editor has room for, at least.
const LEAST_LINES: usize = 16;

/// What an [`Editor`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct EditorProps {
    /// The text.
    pub text: AttrValue,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// It was changed.
    pub on_change: Callback<String>,
}

/// A field for a config.
#[component]
pub(crate) fn Editor(props: &EditorProps) -> Html {
    let lines = (props.text.matches('\n').count() + 1).max(LEAST_LINES);
    let oninput = props.on_change.reform(|event: InputEvent| {
        event.target_dyn_into::<HtmlTextAreaElement>().map(|field| field.value()).unwrap_or_default()
    });
    let line = |number: usize| {
        let is_wrong = props.problems.iter().any(|problem| problem.place.is_some_and(|place| place.line == number));
        html! { <div class={classes!("line", is_wrong.then_some("wrong"))}>{ number }</div> }
    };
    html! {
        <div class="editor">
            <div class="lines numbers" aria-hidden="true">{ for (1..=lines).map(line) }</div>
            <textarea class="text" value={props.text.clone()} rows={lines.to_string()} {oninput} wrap="off"
                spellcheck="false" autocapitalize="off" autocomplete="off" aria-label="Config"
                aria-invalid={(!props.problems.is_empty()).to_string()} aria-describedby="problems" />
        </div>
    }
}
