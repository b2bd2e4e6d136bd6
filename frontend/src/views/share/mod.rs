//! Dialog that shares a copy of the shown file, and the one that lists the links made in this browser.
//!
//! The worker sanitizes and compresses a copy; the dialog shows what the copy leaves out, every text that is left, and
//! its size, and uploads it when the user says so.
//! A link stores the view in the same text that follows the `#` in the address of a local file, search texts included,
//! as the dialog says.
//! The token that deletes a link is in the storage of the browser that made the link, and nowhere else in plain text.

pub mod hook;
pub mod model;

use self::hook::{SharingHandle, delete_link, use_sharing};
use self::model::{
    CutRow, FoundTexts, audience, copy_text, cut_rows, end_text, ends, sent_text, typed_names, typed_text,
};
use crate::ask::{CopyOptions, FileSummary};
use crate::components::{
    CopyButton, Dialog, IconName, bound, by_position, click, icon, options, passing, setting, text_of,
};
use crate::hooks::use_long_list;
use crate::platform::{ApiError, WorkerClient, day_text, focus_first, keep_token, site_url, unix_ms};
use crate::state::{CopyStep, Link, SendFailure, SendStep, ServerState, SharingAction, ViewState};
use shared::base::format;
use shared::export::{Package, SanitizeReport};
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
    let on_delete = passing(&props.on_delete, link.clone());
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
    let ask = |token: Option<String>| passing(on_ask, token);
    let delete = passing(on_delete, link.clone());
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

/// Shows what would be sent of a file with a number of annotations, and the button that sends it.
fn form(sharing: &SharingHandle, annotations: u64, on_close: &Callback<()>) -> Html {
    let state = sharing.state();
    let onsubmit = sharing.doing(|sharing, event: SubmitEvent| {
        event.prevent_default();
        sharing.send();
    });
    let is_sending = matches!(state.sending, SendStep::Sending { .. });
    let on_cancel = if is_sending { sharing.doing(|sharing, _: MouseEvent| sharing.cancel()) } else { click(on_close) };
    html! {
        <form class="share-form" {onsubmit}>
            <p class="share-lead">
                { "Anyone with the link can open a copy of this snapshot in exactly this view. Sizes, times and device \
                   addresses stay as they are. Automatic rules can miss names, so check the texts below before you upload." }
            </p>
            if let Some(text) = typed_text(&sharing.typed()) { <p class="hint" data-typed="">{ text }</p> }
            <fieldset class="share-fields" disabled={is_sending}>
                { title_and_end(sharing) }
                { cuts(sharing, annotations) }
                if let Some(preview) = &state.preview { <RemainingTexts preview={preview.clone()} /> }
            </fieldset>
            <div class="share-foot">
                { refusal(sharing) }
                <div class="share-status" aria-live="polite">
                    <p class="share-size numbers">{ copy_text(state) }</p>
                    <p class="hint numbers">
                        if matches!(state.sending, SendStep::Nothing) { { icon(IconName::Private) } }
                        { sent_text(state) }
                    </p>
                </div>
                { progress(sharing) }
                <div class="card-foot">
                    <button type="submit" class="button primary" disabled={!state.can_send()}>
                        { "Upload and create a link" }
                    </button>
                    <button type="button" class="button" onclick={on_cancel}>{ "Cancel" }</button>
                </div>
            </div>
        </form>
    }
}

fn title_and_end(sharing: &SharingHandle) -> Html {
    let state = sharing.state();
    let on_title = sharing.doing(|sharing, event: InputEvent| sharing.dispatch(SharingAction::Name(text_of(&event))));
    let ends = ends(state);
    let texts: Vec<AttrValue> = ends.iter().map(|&end| end_text(end).into()).collect();
    let chosen = ends.iter().position(|end| *end == state.days).unwrap_or(usize::MAX);
    let on_end = sharing.doing(move |sharing, index: usize| sharing.dispatch(SharingAction::End(ends[index])));
    html! {
        <div class="share-row">
            <label class="share-field">
                <span>{ "Title" }</span>
                <input type="text" maxlength="200" value={state.title.clone()} oninput={on_title}
                    placeholder="Snapshot" autocomplete="off" />
            </label>
            <label class="share-field">
                <span>{ "Expires after" }</span>
                <select onchange={by_position(texts.len(), &on_end)}>{ options(&texts, chosen) }</select>
            </label>
        </div>
    }
}

/// Shows why there is no link, with a field for the server's token if that is missing.
fn refusal(sharing: &SharingHandle) -> Html {
    let SendStep::Failed(SendFailure { message, hint, needs_token }) = &sharing.state().sending else {
        return Html::default();
    };
    let on_token = |event: Event| keep_token(Some(text_of(&event).trim()));
    html! {
        <div class="share-refused" role="alert">
            <p class="error-message">{ icon(IconName::Error) }{ message }</p>
            <p class="hint">{ hint }</p>
            if *needs_token {
                <label class="share-field">
                    <span>{ "Server token" }</span>
                    <input type="password" onchange={on_token} autocomplete="off" />
                </label>
            }
        </div>
    }
}

fn progress(sharing: &SharingHandle) -> Html {
    let state = sharing.state();
    let share = match (&state.sending, &state.copy) {
        (SendStep::Sending { sent_bytes, total_bytes }, _) if sent_bytes < total_bytes => {
            Some(*sent_bytes as f64 / *total_bytes as f64)
        }
        (SendStep::Sending { .. }, _) => None,
        (_, CopyStep::Making(share)) => Some(*share),
        _ => return html! { <div class="progress-room" /> },
    };
    let value = share.map(|share| share.to_string());
    html! { <progress class="progress" max="1" {value} aria-label="Progress" /> }
}

fn cuts(sharing: &SharingHandle, annotations: u64) -> Html {
    let state = sharing.state();
    let (options, preview) = (&state.options, state.preview.as_deref());
    let choose = sharing.doing(|sharing, options: CopyOptions| sharing.dispatch(SharingAction::Choose(options)));
    let on_names = {
        let options = options.clone();
        choose.reform(move |event: Event| CopyOptions { names: typed_names(&text_of(&event)), ..options.clone() })
    };
    let rows = cut_rows(options, preview, annotations);
    html! {
        <fieldset class="cuts">
            <legend>{ "Removed from the copy" }</legend>
            { for rows.iter().map(|row| cut(row, options, &choose)) }
            <label class="share-field">
                <span>{ "Also remove" }</span>
                <input type="text" onchange={on_names} placeholder="customer, host-17" autocomplete="off"
                    spellcheck="false" data-names="" />
            </label>
            if let Some(preview) = preview.filter(|preview| preview.packages.len() > 1) {
                <details class="cut-packages">
                    <summary>{ "Frames by package" }</summary>
                    <ul>{ for preview.packages.iter().map(|row| package(row, options, &choose)) }</ul>
                </details>
            }
            if preview.is_some_and(|preview| preview.unknown_keys > 0) {
                <p class="hint">{ "Fields that are unknown to Snapscope are always removed." }</p>
            }
        </fieldset>
    }
}

fn cut(row: &CutRow, options: &CopyOptions, choose: &Callback<CopyOptions>) -> Html {
    html! {
        <div class="cut" key={row.label}>
            { check(row.label, "check-note", &row.note, row.is_on, row.cut.toggled(options), choose) }
            if !row.examples.is_empty() {
                <ul class="examples" aria-label={format!("Examples: {}", row.label)}>{ for row.examples.iter().map(example) }</ul>
            }
        </div>
    }
}

fn example((before, after): &(String, String)) -> Html {
    let after = if after.is_empty() {
        html! { <em>{ "nothing" }</em> }
    } else {
        html! { <code>{ after }</code> }
    };
    html! {
        <li>
            <del><code>{ before }</code></del>
            <span aria-label="becomes">{ "→" }</span>
            <ins>{ after }</ins>
        </li>
    }
}

fn package(row: &Package, options: &CopyOptions, choose: &Callback<CopyOptions>) -> Html {
    let mut next = options.clone();
    let dropped = next.dropped_packages.iter().position(|dropped| *dropped == row.name);
    match dropped {
        Some(position) => drop(next.dropped_packages.remove(position)),
        None => next.dropped_packages.push(row.name.clone()),
    }
    let frames = format::counted(row.frames, "frame");
    html! {
        <li key={row.name.clone()}>
            { check(&row.name, "check-note numbers", &frames, dropped.is_none(), next, choose) }
        </li>
    }
}

/// Shows a checkbox with its label and a note; `next` are the options once it is clicked.
fn check(
    label: &str,
    class: &'static str,
    note: &str,
    checked: bool,
    next: CopyOptions,
    choose: &Callback<CopyOptions>,
) -> Html {
    let onchange = choose.reform(move |_: Event| next.clone());
    html! {
        <label class="check">
            <input type="checkbox" {checked} {onchange} />
            <span class="check-label">{ label }</span>
            <span {class}>{ note }</span>
        </label>
    }
}

/// Height of the list in CSS pixels; must match the style sheet.
const ROOM_PX: f64 = 196.0;

#[derive(Clone, PartialEq, Properties)]
pub struct RemainingTextsProps {
    pub preview: Rc<SanitizeReport>,
}

/// Shows every distinct text that others will see, with a search.
///
/// Only the rows on the screen are in the document.
#[component]
pub fn RemainingTexts(props: &RemainingTextsProps) -> Html {
    let search = use_state_eq(String::new);
    let texts = &props.preview.remaining;
    let found = use_memo((Rc::clone(&props.preview), (*search).clone()), |(preview, search)| {
        FoundTexts::new(&preview.remaining, search)
    });
    let pane = use_node_ref();
    let list = use_long_list(pane, found.count(), ROOM_PX);
    let oninput = bound((search.setter(), list.clone()), move |(search, list), event: InputEvent| {
        search.set(text_of(&event));
        list.scroll_to(0);
    });
    let row = |row: u32| {
        let (kind, text) = found.row(texts, row)?;
        Some(html! {
            <div key={row} class="remaining-row" role="listitem" aria-posinset={(u64::from(row) + 1).to_string()}
                aria-setsize={found.count().to_string()} title={text.to_owned()}>
                <span class="remaining-kind">{ kind }</span>
                <code>{ text }</code>
            </div>
        })
    };
    // Enter in the search field would submit the surrounding form.
    let onkeydown = |event: KeyboardEvent| {
        if event.key() == "Enter" {
            event.prevent_default();
        }
    };
    html! {
        <section class="remaining" aria-label="Texts in the copy" data-remaining={found.count().to_string()}>
            <div class="remaining-head">
                <span class="check-label">{ "Texts that others can read" }</span>
                <input type="search" value={(*search).clone()} {oninput} {onkeydown} placeholder="Search"
                    aria-label="Search the texts of the copy" autocomplete="off" spellcheck="false" />
                <span class="check-note numbers" role="status">{ found.count_text() }</span>
            </div>
            <div class="remaining-pane" ref={&list.pane} tabindex="0" role="list" aria-label="Texts in the copy"
                onscroll={&list.onscroll}>
                <div class="remaining-rows" role="presentation">
                    { for list.rows().filter_map(row) }
                    if found.count() == 0 { <p class="hint">{ "No text matches the search." }</p> }
                </div>
                <div ref={&list.spacer} role="presentation"></div>
            </div>
        </section>
    }
}
