//! Whether the browser keeps open files for a reload, and how that stands.

use crate::platform::can_keep;
use crate::state::Keeping;
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// What the [`KeepBox`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub struct KeepBoxProps {
    /// Whether open files are kept.
    pub is_on: bool,
    /// How it stands with the shown file, `None` where none is shown.
    #[prop_or_default]
    pub keeping: Option<Keeping>,
    /// It was switched.
    pub on_keep: Callback<bool>,
}

/// A box to tick, with what it means; where the browser has no room for files, why they are not kept.
#[component]
pub fn KeepBox(props: &KeepBoxProps) -> Html {
    if !can_keep() {
        return html! {
            <p class="keep hint">{ "This browser can't keep files here: after a reload they are to be opened again." }</p>
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
                { "A reload or Back then opens them again. Closing a file’s tab or unticking this deletes its copy." }
            </p>
            if let Some(text) = state_text(props.is_on, props.keeping) {
                <p class="hint" role="status" data-keeping="">{ text }</p>
            }
        </div>
    }
}

fn state_text(is_on: bool, keeping: Option<Keeping>) -> Option<&'static str> {
    match (is_on, keeping?) {
        (false, _) => Some("This file is not kept: the browser asks before it leaves the page."),
        (true, Keeping::Kept) => Some("This file is kept."),
        (true, Keeping::NotYet | Keeping::Begun) => Some("This file is not kept yet."),
        (true, Keeping::Never) => {
            Some("There is no room to keep this file: the browser asks before it leaves the page.")
        }
    }
}
