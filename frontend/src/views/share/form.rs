//! Form of the share dialog: the content of the copy, and the button that uploads it.

use super::cuts::Cuts;
use super::hook::SharingHandle;
use super::model::{copy_text, end_text, ends, sent_text, typed_text};
use super::remaining::RemainingTexts;
use crate::components::icon::{Icon, IconName};
use crate::state::{CopyStep, SendFailure, SendStep, SharingAction};
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct FormProps {
    /// State of the dialog.
    pub(super) sharing: SharingHandle,
    /// Number of annotations in the file.
    pub(super) annotations: u64,
    /// Called when the dialog should be closed.
    pub(super) on_close: Callback<()>,
}

/// Shows what would be sent, and the button that sends it.
#[component]
pub(super) fn Form(props: &FormProps) -> Html {
    let sharing = &props.sharing;
    let state = sharing.state();
    let onsubmit = {
        let sharing = sharing.clone();
        move |event: SubmitEvent| {
            event.prevent_default();
            sharing.send();
        }
    };
    let is_sending = matches!(state.sending, SendStep::Sending { .. });
    let on_cancel = {
        let (sharing, on_close) = (sharing.clone(), props.on_close.clone());
        move |_: MouseEvent| if is_sending { sharing.cancel() } else { on_close.emit(()) }
    };
    html! {
        <form class="share-form" {onsubmit}>
            <p class="share-lead">
                { "Anyone with the link can open a copy of this snapshot in exactly this view. Sizes, times and device \
                   addresses stay as they are. Automatic rules can miss names, so check the texts below before you upload." }
            </p>
            if let Some(text) = typed_text(&sharing.typed()) { <p class="hint" data-typed="">{ text }</p> }
            <fieldset class="share-fields" disabled={is_sending}>
                { title_and_end(sharing) }
                <Cuts sharing={sharing.clone()} annotations={props.annotations} />
                if let Some(preview) = &state.preview { <RemainingTexts preview={preview.clone()} /> }
            </fieldset>
            <div class="share-foot">
                { refusal(sharing) }
                <div class="share-status" aria-live="polite">
                    <p class="share-size numbers">{ copy_text(state) }</p>
                    <p class="hint numbers">
                        if matches!(state.sending, SendStep::Nothing) { <Icon name={IconName::Private} /> }
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
    let on_title = {
        let sharing = sharing.clone();
        move |event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            sharing.dispatch(SharingAction::Name(input.value()));
        }
    };
    let ends = ends(state);
    let on_end = {
        let (sharing, ends) = (sharing.clone(), ends.clone());
        move |event: Event| {
            let select: HtmlSelectElement = event.target_unchecked_into();
            let chosen = usize::try_from(select.selected_index()).ok().and_then(|index| ends.get(index));
            if let Some(days) = chosen {
                sharing.dispatch(SharingAction::End(*days));
            }
        }
    };
    html! {
        <div class="share-row">
            <label class="share-field">
                <span>{ "Title" }</span>
                <input type="text" maxlength="200" value={state.title.clone()} oninput={on_title}
                    placeholder="Snapshot" autocomplete="off" />
            </label>
            <label class="share-field">
                <span>{ "Expires after" }</span>
                <select onchange={on_end}>
                    { for ends.iter().map(|end| html! {
                        <option selected={*end == state.days}>{ end_text(*end) }</option>
                    }) }
                </select>
            </label>
        </div>
    }
}

/// Shows why there is no link, with a field for the server's token if that is missing.
fn refusal(sharing: &SharingHandle) -> Html {
    let SendStep::Failed(SendFailure { message, hint, needs_token }) = &sharing.state().sending else {
        return Html::default();
    };
    let on_token = {
        let sharing = sharing.clone();
        move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            sharing.keep_token(input.value().trim());
        }
    };
    html! {
        <div class="share-refused" role="alert">
            <p class="error-message"><Icon name={IconName::Error} />{ message }</p>
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

/// Shows the progress of making or uploading the copy.
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
