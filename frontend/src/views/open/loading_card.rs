//! Card for a file that is being read.

use super::progress::progress;
use crate::state::Loading;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct LoadingCardProps {
    /// Name of the file.
    pub name: AttrValue,
    pub loading: Loading,
    pub on_cancel: Callback<()>,
    /// Called when a part of the file should be chosen instead.
    pub on_part: Callback<()>,
}

/// Shows the name, a progress bar, the bytes read and a cancel button.
#[component]
pub fn LoadingCard(props: &LoadingCardProps) -> Html {
    let progress = progress(&props.loading);
    let on_cancel = props.on_cancel.reform(|_: MouseEvent| ());
    let value = progress.share.map(|share| share.to_string());
    let doing = if props.loading.is_survey { "Scanning " } else { "Reading " };
    html! {
        <main class="state">
            <section class="card" aria-busy="true">
                <h1 class="card-title">{ doing }<span class="file-text">{ &props.name }</span></h1>
                <progress class="progress" max="1" {value} aria-label="Progress" />
                <div class="card-foot">
                    <span class="numbers">{ progress.text }</span>
                    if !props.loading.is_survey {
                        <button type="button" class="button" onclick={props.on_part.reform(|_: MouseEvent| ())}>
                            { "Open part…" }
                        </button>
                    }
                    <button type="button" class="button" onclick={on_cancel}>{ "Cancel" }</button>
                </div>
                <p class="visually-hidden" role="status">{ progress.spoken }</p>
            </section>
        </main>
    }
}
