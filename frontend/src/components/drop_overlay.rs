//! What the page shows while files hang over it.

use super::icon::{Icon, IconName};
use yew::prelude::*;

/// A frame around the page that invites to let go.
#[component]
pub fn DropOverlay() -> Html {
    html! {
        <div class="drop-overlay" aria-hidden="true">
            <p><Icon name={IconName::Drop} />{ "Drop to open" }</p>
        </div>
    }
}
