//! The link.

use crate::components::copy_button::CopyButton;
use crate::components::icon::{Icon, IconName};
use crate::platform::{day_text, focus_first, site_url};
use crate::state::Link;
use web_sys::Element;
use yew::prelude::*;

/// What [`Done`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct DoneProps {
    /// The link.
    pub(super) link: Link,
    /// Delete was pressed.
    pub(super) on_delete: Callback<Link>,
}

/// The link, to be copied, opened or deleted.
#[component]
pub(super) fn Done(props: &DoneProps) -> Html {
    let link = &props.link;
    let node = use_node_ref();
    // The button that had the focus is gone, and copying is what comes next.
    use_effect_with(node.clone(), |node| {
        if let Some(element) = node.cast::<Element>() {
            focus_first(&element, "button");
        }
    });
    let address = site_url(&format!("s/{}", link.token));
    let ends = match link.expires_ms {
        Some(end) => format!("It ends on {}.", day_text(end)),
        None => "It does not end by itself.".to_owned(),
    };
    let on_delete = {
        let link = link.clone();
        props.on_delete.reform(move |_: MouseEvent| link.clone())
    };
    html! {
        <div class="share-done" ref={node}>
            <p class="share-lead" role="status"><Icon name={IconName::Done} />{ "The link is ready" }</p>
            <div class="share-link">
                <a href={address.clone()} target="_blank" rel="noopener" data-link="">{ &address }</a>
                <CopyButton text={address.clone()} label="Copy" />
            </div>
            <p class="hint">
                { ends }
                { " This browser can delete it, now or later under “My links”: nobody else can." }
            </p>
            <div class="card-foot">
                <button type="button" class="button" onclick={on_delete} data-delete="">{ "Delete the link" }</button>
            </div>
        </div>
    }
}
