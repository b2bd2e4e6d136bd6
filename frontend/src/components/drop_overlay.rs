//! Overlay shown while files are dragged over the page.

use crate::components::icon::{IconName, icon};
use yew::prelude::*;

pub fn drop_overlay() -> Html {
    html! {
        <div class="drop-overlay" aria-hidden="true">
            <p>{ icon(IconName::Drop) }{ "Drop to open" }</p>
        </div>
    }
}
