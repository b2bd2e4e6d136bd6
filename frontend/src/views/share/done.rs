//! Last step of the share dialog, which shows the new link.

use crate::components::buttons::CopyButton;
use crate::components::icon::{Icon, IconName};
use crate::platform::{day_text, focus_first, site_url};
use crate::state::Link;
use web_sys::Element;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct DoneProps {
    pub(super) link: Link,
    pub(super) on_delete: Callback<Link>,
}

/// Shows the link, with buttons to copy and to delete it.
#[component]
pub(super) fn Done(props: &DoneProps) -> Html {
    let link = &props.link;
    let node = use_node_ref();
    // The button that had the focus is gone, and copying is the likely next step.
    use_effect_with(node.clone(), |node| {
        if let Some(element) = node.cast::<Element>() {
            focus_first(&element, "button");
        }
    });
    let address = site_url(&format!("s/{}", link.token));
    let ends = match link.expires_ms {
        Some(end) => format!("It expires on {}.", day_text(end)),
        None => "It does not expire.".to_owned(),
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
                { " Only this browser can delete it, here or later under “My links”." }
            </p>
            <div class="card-foot">
                <button type="button" class="button" onclick={on_delete}>{ "Delete the link" }</button>
            </div>
        </div>
    }
}
