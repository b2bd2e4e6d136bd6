//! Checkbox for keeping open files in the browser across reloads, with its state.

use crate::platform::can_keep;
use crate::state::Keeping;
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct KeepBoxProps {
    /// True if open files are kept.
    pub is_on: bool,
    /// State of the shown file; `None` if no file is shown.
    #[prop_or_default]
    pub keeping: Option<Keeping>,
    /// Called with the new setting.
    pub on_keep: Callback<bool>,
}

/// Shows a checkbox with its meaning, or that the browser has no storage for files.
#[component]
pub fn KeepBox(props: &KeepBoxProps) -> Html {
    if !can_keep() {
        return html! {
            <p class="keep hint">{ "This browser can't keep files here. After a reload, open them again." }</p>
        };
    }
    let onchange = props.on_keep.reform(|event: Event| event.target_unchecked_into::<HtmlInputElement>().checked());
    html! {
        <div class="keep">
            <label class="keep-choice">
                <input type="checkbox" name="keep" checked={props.is_on} {onchange} />
                <span>{ "Keep open files in this browser for a day" }</span>
            </label>
            <p class="hint">
                { "A reload or Back then reopens them. To delete a copy, close the file’s tab or clear this checkbox." }
            </p>
            if let Some(text) = state_text(props.is_on, props.keeping) {
                <p class="hint" role="status" data-keeping="">{ text }</p>
            }
        </div>
    }
}

fn state_text(is_on: bool, keeping: Option<Keeping>) -> Option<&'static str> {
    match (is_on, keeping?) {
        (false, _) => Some("This file is not kept: the browser asks before you leave the page."),
        (true, Keeping::Kept) => Some("This file is kept."),
        (true, Keeping::NotYet | Keeping::Begun) => Some("This file is not kept yet."),
        (true, Keeping::Never) => {
            Some("There is not enough storage to keep this file: the browser asks before you leave the page.")
        }
    }
}
