//! Names the files that were open before a reload and could not be kept.

use super::icon::{Icon, IconName};
use crate::state::{SessionFile, awaited_text};
use yew::prelude::*;

/// What the [`AwaitedBar`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub struct AwaitedBarProps {
    /// The files.
    pub files: Vec<SessionFile>,
    /// Open was pressed.
    pub on_open: Callback<()>,
    /// They are not to be opened again.
    pub on_dismiss: Callback<()>,
}

/// A line with what is to be dropped again; nothing where all is open.
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
