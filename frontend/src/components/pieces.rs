//! Parts of views that are told by a few texts: empty places, facts, keys of legends, and what invites to drop files.

use super::icon::{IconName, icon};
use yew::prelude::*;

/// Says why a place is empty.
pub fn empty(text: &str) -> Html {
    html! { <p class="panel-empty">{ text }</p> }
}

/// Says, also to screen readers, what a place waits for.
pub fn waiting(text: &str) -> Html {
    html! { <p class="panel-empty" role="status">{ text }</p> }
}

/// Shows an entry of a list of facts; the note, a second and smaller value, may be empty.
pub fn fact(name: &str, value: &str, note: &str) -> Html {
    html! {
        <div class="fact">
            <dt>{ name }</dt>
            <dd class="numbers">
                { value }
                if !note.is_empty() { <span class="fact-note">{ note }</span> }
            </dd>
        </div>
    }
}

/// Shows a color in a legend, as an attribute because the page's security policy forbids inline styles.
pub fn color_key(color: String) -> Html {
    html! {
        <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true"><rect width="18" height="10" fill={color} /></svg>
    }
}

pub fn drop_overlay() -> Html {
    html! {
        <div class="drop-overlay" aria-hidden="true">
            <p>{ icon(IconName::Drop) }{ "Drop to open" }</p>
        </div>
    }
}
