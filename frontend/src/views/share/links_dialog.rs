//! Dialog that lists the share links made in this browser.

use super::hook;
use super::hook::delete_link;
use crate::components::{CopyButton, Dialog, setting};
use crate::platform::{ApiError, day_text, site_url, unix_ms};
use crate::state::Link;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

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
    let on_delete = {
        let (kept, asked, refusal) = (kept.setter(), asked.setter(), refusal.setter());
        Callback::from(move |link: Link| {
            let (kept, asked, refusal) = (kept.clone(), asked.clone(), refusal.clone());
            spawn_local(async move {
                let outcome = delete_link(&link).await;
                refusal.set(outcome.err().map(said));
                asked.set(None);
                kept.set(hook::kept());
            });
        })
    };
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
