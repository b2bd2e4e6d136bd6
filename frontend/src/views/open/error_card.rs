//! Error card for a file that could not be read.

use crate::components::icon::{Icon, IconName};
use crate::platform::has_server;
use crate::state::{Failure, Remedy};
use shared::base::format;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct ErrorCardProps {
    /// Name of the file.
    pub name: AttrValue,
    pub failure: Failure,
    pub on_close: Callback<()>,
    /// Called when the file should be read again.
    pub on_retry: Callback<()>,
    /// Called when a part of the file should be chosen.
    pub on_part: Callback<()>,
    /// Called when another file should be opened.
    pub on_open: Callback<()>,
    /// Called when the file should be opened on the Jobs page.
    pub on_jobs: Callback<()>,
}

/// Shows what is wrong, where, and what to do.
#[component]
pub fn ErrorCard(props: &ErrorCardProps) -> Html {
    let Failure { code, message, offset, hint, remedy } = &props.failure;
    let on_close = props.on_close.reform(|_: MouseEvent| ());
    let (what, on_remedy) = match remedy {
        Remedy::Jobs if has_server() => ("Open in Jobs", &props.on_jobs),
        Remedy::OtherFile | Remedy::Jobs => ("Open another file", &props.on_open),
        Remedy::Retry => ("Try again", &props.on_retry),
        Remedy::Part => ("Open part…", &props.on_part),
    };
    let on_remedy = on_remedy.reform(|_: MouseEvent| ());
    html! {
        <main class="state">
            <section class="card error" role="alert">
                <h1 class="card-title">
                    <Icon name={IconName::Error} />
                    <span class="error-title">{ format!("{} could not be read", props.name) }</span>
                </h1>
                <p class="error-message" data-error={code.clone()}>{ message }</p>
                if let Some(offset) = offset {
                    <p class="error-place numbers">{ format!("At byte {}", format::count(*offset)) }</p>
                }
                <p class="hint">{ hint }</p>
                <div class="card-foot">
                    <button type="button" class="button primary" onclick={on_remedy}>{ what }</button>
                    <button type="button" class="button" onclick={on_close}>{ "Close" }</button>
                </div>
            </section>
        </main>
    }
}
