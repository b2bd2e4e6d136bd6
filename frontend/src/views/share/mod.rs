//! Dialog that shares a copy of the shown file.
//!
//! The worker sanitizes and compresses a copy; the dialog shows what the copy leaves out, every text that is left, and
//! its size, and uploads it when the user says so.
//! A link stores the view in the same text that follows the `#` in the address of a local file, search texts included,
//! as the dialog says.
//! The token that deletes a link is in the storage of the browser that made the link, and nowhere else in plain text.

pub mod form;
pub mod hook;
pub mod links_dialog;
pub mod model;

use self::form::form;
use self::hook::use_sharing;
use self::model::audience;
use crate::ask::FileSummary;
use crate::components::{CopyButton, Dialog, IconName, icon};
use crate::platform::{WorkerClient, day_text, focus_first, site_url};
use crate::state::{Link, SendStep, ServerState, ViewState};
use std::rc::Rc;
use web_sys::Element;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct ShareDialogProps {
    pub client: WorkerClient,
    pub summary: Rc<FileSummary>,
    /// The view that the link restores.
    pub view: ViewState,
    pub on_close: Callback<()>,
}

#[component]
pub fn ShareDialog(props: &ShareDialogProps) -> Html {
    let sharing = use_sharing(&props.client, &props.view);
    let is_sending = matches!(sharing.state().sending, SendStep::Sending { .. });
    let body = match (&sharing.state().sending, &sharing.state().server) {
        (SendStep::Done(link), _) => {
            html! { <Done link={link.clone()} on_delete={sharing.doing(|sharing, link| sharing.delete(link))} /> }
        }
        (_, ServerState::Asking) => html! { <p class="hint" role="status">{ "Contacting the server…" }</p> },
        (_, ServerState::Away) => no_server(),
        (_, ServerState::There(_)) => form(&sharing, props.summary.annotations, &props.on_close),
    };
    html! {
        <Dialog id="share-title" title="Share a copy" class="share" on_close={props.on_close.clone()} is_light={!is_sending}>
            { body }
        </Dialog>
    }
}

fn no_server() -> Html {
    html! {
        <>
            <p class="share-lead">{ "Links need a Snapscope server, and no server responds at this address." }</p>
            <p class="hint">
                { "Nothing has been uploaded. To share links, run " }<code>{ "snapscope serve" }</code>
                { " and open the page from that server. You can also send the file itself, which opens on this page too." }
            </p>
        </>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct DoneProps {
    pub(super) link: Link,
    pub(super) on_delete: Callback<Link>,
}

#[component]
fn Done(props: &DoneProps) -> Html {
    let link = &props.link;
    let node = use_node_ref();
    // The button that had the focus is gone, and copying is the likely next step.
    use_effect_with(node.clone(), |node| {
        if let Some(element) = node.cast::<Element>() {
            focus_first(&element, "button");
        }
    });
    let address = site_url(&format!("s/{}", link.token));
    let (audience, command) = audience(&address);
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
            <p class="share-lead" role="status">{ icon(IconName::Done) }{ "The link is ready" }</p>
            <div class="share-link">
                <a href={address.clone()} target="_blank" rel="noopener" data-link="">{ &address }</a>
                <CopyButton text={address.clone()} label="Copy" />
            </div>
            <p class="hint" data-audience="">{ audience }if let Some(command) = command { <code>{ command }</code> }</p>
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
