//! Dialog that shares a copy of the shown file.
//!
//! The worker sanitizes and compresses a copy; the dialog shows what the copy leaves out, every text that is left, and
//! its size, and uploads it when the user says so.
//! A link stores the view in the same text that follows the `#` in the address of a local file, search texts included,
//! as the dialog says.
//! The token that deletes a link is in the storage of the browser that made the link, and nowhere else in plain text.

pub mod form;
pub mod hook;
pub mod model;

use self::form::form;
use self::hook::{delete_link, use_sharing};
use self::model::audience;
use crate::ask::FileSummary;
use crate::components::{CopyButton, Dialog, IconName, bound, icon, setting};
use crate::platform::{ApiError, WorkerClient, day_text, focus_first, site_url, unix_ms};
use crate::state::{Link, SendStep, ServerState, ViewState};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
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

#[derive(Clone, PartialEq, Properties)]
pub struct LinksDialogProps {
    pub on_close: Callback<()>,
}

#[component]
pub fn LinksDialog(props: &LinksDialogProps) -> Html {
    let kept = use_state_eq(|| {
        hook::forget_ended(unix_ms());
        hook::kept()
    });
    let asked = use_state_eq(|| None::<String>);
    let refusal = use_state_eq(|| None::<String>);
    let on_delete =
        bound((kept.setter(), asked.setter(), refusal.setter()), move |(kept, asked, refusal), link: Link| {
            let (kept, asked, refusal) = (kept.clone(), asked.clone(), refusal.clone());
            spawn_local(async move {
                let outcome = delete_link(&link).await;
                refusal.set(outcome.err().map(said));
                asked.set(None);
                kept.set(hook::kept());
            });
        });
    let on_ask = setting(&asked);
    let (links, is_readable) = &*kept;
    let row = |link: &Link| {
        let is_asked = asked.as_deref() == Some(link.token.as_str());
        link_row(link, is_asked, &on_ask, &on_delete)
    };
    html! {
        <Dialog id="links-title" title="My links" class="links" on_close={props.on_close.clone()}>
            if !is_readable {
                <p class="hint" role="status">
                    { "This version of Snapscope can't read the list of links in this browser. When you create a link, a new \
                       list starts, and the old list is kept as a backup." }
                </p>
            }
            if let Some(refusal) = &*refusal { <p class="error-message" role="alert">{ refusal }</p> }
            if links.all.is_empty() {
                <p class="hint">
                    { "No links yet: open a snapshot and select Share. This list shows the links that you created in this \
                       browser. Only this browser can delete them." }
                </p>
            } else {
                <ul class="link-list">{ for links.all.iter().map(row) }</ul>
            }
        </Dialog>
    }
}

/// Shows a link; `is_asked` is true while the user is asked to confirm the deletion.
fn link_row(link: &Link, is_asked: bool, on_ask: &Callback<Option<String>>, on_delete: &Callback<Link>) -> Html {
    let address = site_url(&format!("s/{}", link.token));
    let title = if link.title.is_empty() { "Snapshot" } else { &link.title };
    let days = match link.expires_ms {
        Some(end) => format!("created {}, expires {}", day_text(link.created_ms), day_text(end)),
        None => format!("created {}, never expires", day_text(link.created_ms)),
    };
    let ask = |token: Option<String>| on_ask.reform(move |_: MouseEvent| token.clone());
    let delete = {
        let link = link.clone();
        on_delete.reform(move |_: MouseEvent| link.clone())
    };
    html! {
        <li key={link.token.clone()} class="link-row">
            <div class="link-text">
                <a href={address.clone()}>{ title }</a>
                <span class="hint numbers">{ days }</span>
            </div>
            if is_asked {
                <div class="link-actions" role="alert">
                    <span>{ "Delete for everyone?" }</span>
                    <button type="button" class="button" onclick={delete}>{ "Delete" }</button>
                    <button type="button" class="button quiet" onclick={ask(None)}>{ "Keep" }</button>
                </div>
            } else {
                <div class="link-actions">
                    <CopyButton text={address} label="Copy" />
                    <button type="button" class="button quiet" onclick={ask(Some(link.token.clone()))}>{ "Delete" }</button>
                </div>
            }
        </li>
    }
}

fn said(error: ApiError) -> String {
    match error {
        ApiError::NoServer => "The server does not respond, so the link was not deleted. Try again later.".to_owned(),
        ApiError::Refused(body) => format!("{} {}", body.message, body.hint),
    }
}
