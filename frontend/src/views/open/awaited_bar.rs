//! Bar that names the files that were open before a reload but could not be kept.

use crate::components::icon::{Icon, IconName};
use crate::state::{SessionFile, awaited_text};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct AwaitedBarProps {
    pub files: Vec<SessionFile>,
    pub on_open: Callback<()>,
    /// Called when these files should not be asked for again.
    pub on_dismiss: Callback<()>,
}

/// Shows which files to drop again; renders nothing if all files are open.
#[component]
pub fn AwaitedBar(props: &AwaitedBarProps) -> Html {
    if props.files.is_empty() {
        return Html::default();
    }
    let on_open = props.on_open.reform(|_: MouseEvent| ());
    let on_dismiss = props.on_dismiss.reform(|_: MouseEvent| ());
    html! {
        <p class="origin awaited" role="status" data-awaited="">
            <Icon name={IconName::Info} /><span>{ awaited_text(&props.files) }</span>
            <button type="button" class="button" onclick={on_open}>{ "Open…" }</button>
            <button type="button" class="button quiet square" onclick={on_dismiss} aria-label="Dismiss">
                <Icon name={IconName::Close} />
            </button>
        </p>
    }
}
