//! Overlay shown while files are dragged over the page.

use crate::components::icon::{IconName, icon};
use yew::prelude::*;

/// Shows a frame around the page that invites the user to drop the files.
pub fn drop_overlay() -> Html {
    html! {
        <div class="drop-overlay" aria-hidden="true">
            <p>{ icon(IconName::Drop) }{ "Drop to open" }</p>
        </div>
    }
}
