//! Overlay shown while files are dragged over the page.

use crate::components::icon::{Icon, IconName};
use yew::prelude::*;

/// Shows a frame around the page that invites the user to drop the files.
#[component]
pub fn DropOverlay() -> Html {
    html! {
        <div class="drop-overlay" aria-hidden="true">
            <p><Icon name={IconName::Drop} />{ "Drop to open" }</p>
        </div>
    }
}
