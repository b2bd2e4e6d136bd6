//! Error card for a page address that leads to nothing.

use crate::components::icon::{Icon, IconName};
use crate::hooks::ArrivalFailure;
use crate::platform::{has_server, site_url};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct ArrivalCardProps {
    pub failure: ArrivalFailure,
}

/// Shows why the address leads to nothing, and where to go instead.
#[component]
pub fn ArrivalCard(props: &ArrivalCardProps) -> Html {
    let ArrivalFailure { title, message, hint } = &props.failure;
    html! {
        <main class="state">
            <section class="card error" role="alert" data-arrival="">
                <h1 class="card-title"><Icon name={IconName::Error} />{ *title }</h1>
                <p class="error-message">{ message }</p>
                <p class="hint">{ hint }</p>
                <div class="card-foot">
                    <a class="button primary" href={site_url("")}>{ "Open your own snapshot" }</a>
                    if has_server() {
                        <a class="button" href={site_url("jobs")}>{ "Jobs" }</a>
                    }
                </div>
            </section>
        </main>
    }
}
