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
    /// Called when the user does what helps.
    pub on_remedy: Callback<Remedy>,
}

/// Shows what is wrong, where, and what to do.
#[component]
pub fn ErrorCard(props: &ErrorCardProps) -> Html {
    let Failure { code, message, offset, hint, remedy } = &props.failure;
    let on_close = props.on_close.reform(|_: MouseEvent| ());
    // Without a server there are no jobs.
    let remedy = if *remedy == Remedy::Jobs && !has_server() { Remedy::OtherFile } else { *remedy };
    let what = match remedy {
        Remedy::Jobs => "Open in Jobs",
        Remedy::OtherFile => "Open another file",
        Remedy::Retry => "Try again",
        Remedy::Part => "Open part…",
    };
    let on_remedy = props.on_remedy.reform(move |_: MouseEvent| remedy);
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
