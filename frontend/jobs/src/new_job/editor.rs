//! Text editor for a config, with line numbers that mark lines with problems.
//!
//! The field is as high as its text, so the line numbers scroll with it and no scroll position has to be copied.

use shared::job::Problem;
use web_sys::HtmlTextAreaElement;
use yew::prelude::*;

/// Minimum height of the editor, in lines.
const LEAST_LINES: usize = 16;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct EditorProps {
    pub text: AttrValue,
    pub problems: Vec<Problem>,
    pub on_change: Callback<String>,
}

/// Shows the text field with its line numbers.
#[component]
pub(crate) fn Editor(props: &EditorProps) -> Html {
    let lines = props.text.matches('\n').count() + 1;
    let rows = lines.max(LEAST_LINES);
    let oninput = props.on_change.reform(|event: InputEvent| {
        event.target_dyn_into::<HtmlTextAreaElement>().map(|field| field.value()).unwrap_or_default()
    });
    let line = |number: usize| {
        let is_wrong = props.problems.iter().any(|problem| problem.place.is_some_and(|place| place.line == number));
        html! { <div class={classes!("line", is_wrong.then_some("wrong"))} data-wrong={is_wrong.then_some("")}>{ number }</div> }
    };
    html! {
        <div class="editor">
            <div class="lines numbers" aria-hidden="true">{ for (1..=lines).map(line) }</div>
            <textarea class="text" value={props.text.clone()} rows={rows.to_string()} {oninput} wrap="off"
                spellcheck="false" autocapitalize="off" autocomplete="off" aria-label="Config"
                aria-invalid={(!props.problems.is_empty()).to_string()} aria-describedby="problems" />
        </div>
    }
}
