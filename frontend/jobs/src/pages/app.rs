//! All pages of jobs: the bar at the top, and the one that the address names.

use frontend::components::site_header::{Place, SiteHeader};
use frontend::hooks::use_scheme;
use yew::prelude::*;

/// All pages of jobs.
#[component]
pub(crate) fn App() -> Html {
    let scheme = use_scheme();
    html! {
        <SiteHeader place={Place::Jobs} scheme={scheme.choice()} on_scheme={move |choice| scheme.choose(choice)} />
    }
}
