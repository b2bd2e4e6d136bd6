//! Components that several pages share.

use frontend::components::buttons::CopyButton;
use frontend::components::dialog::Dialog;
use frontend::components::icon::{IconName, icon};
use frontend::platform::{ApiError, site_url};
use frontend::views::head::figures::figure;
use frontend::views::head::model::Figure;
use shared::api::{JobOutcome, JobState};
use shared::base::format;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use super::hooks::TokenHandle;
use super::model::job::{state_class, state_word};
use super::model::refusal::refusal;
use super::model::route::Route;

/// Shows figures with their names; the explanation of each is its tooltip.
pub(crate) fn figure_list(figures: &[Figure]) -> Html {
    html! { <dl class="numbers-row" data-figures="">{ for figures.iter().map(|row| figure(row, "number")) }</dl> }
}

/// Key, and a note on how it was used or why it was not.
pub(crate) type Note = (String, String);

/// Shows the keys that have a meaning for Snapscope and those that have none, collapsed.
pub(crate) fn key_notes(understood: &[Note], ignored: &[Note]) -> Html {
    if understood.is_empty() && ignored.is_empty() {
        return Html::default();
    }
    html! {
        <div class="key-notes">
            { list("understood", understood) }
            { list("ignored", ignored) }
        </div>
    }
}

fn list(what: &str, notes: &[Note]) -> Html {
    if notes.is_empty() {
        return Html::default();
    }
    let row = |(key, note): &Note| html! { <div class="key-note"><dt>{ key }</dt><dd>{ note }</dd></div> };
    html! {
        <details class="fold">
            <summary>{ format!("{} {what}", format::counted(notes.len() as u64, "key")) }</summary>
            <dl>{ for notes.iter().map(row) }</dl>
        </details>
    }
}

/// Command that starts a server.
const COMMAND: &str = "snapscope serve";

/// Explains that jobs need a server, and how to start one; `on_retry` asks the server again.
pub(crate) fn no_server(on_retry: &Callback<()>) -> Html {
    html! {
        <main class="state">
            <section class="card" role="alert">
                <h1 class="card-title">{ icon(IconName::Warning) }{ "No server responds here" }</h1>
                <p class="error-message">
                    { "Jobs and the gallery's recordings are made by a Snapscope server, and no server responds at this \
                       address. The viewer needs no server: it decodes files in the browser." }
                </p>
                <div class="command">
                    <code>{ COMMAND }</code>
                    <CopyButton text={COMMAND} label="Copy" />
                </div>
                <p class="hint">{ "This command serves the page with jobs at http://127.0.0.1:8080. This page continues as soon as a server responds." }</p>
                <div class="card-foot">
                    <button type="button" class="button primary" onclick={on_retry.reform(|_: MouseEvent| ())}>
                        { "Try again" }
                    </button>
                    <a class="button" href={site_url("")}>{ "Open the viewer" }</a>
                </div>
            </section>
        </main>
    }
}

/// Shows what happened, what to do, and a button that sends the request again, unless `on_retry` is `None`.
pub(crate) fn refusal_note(error: &ApiError, on_retry: Option<&Callback<()>>) -> Html {
    let [message, hint] = refusal(error);
    error_note(message, hint, on_retry)
}

/// Shows an error with a hint, and a button that tries again, unless `on_retry` is `None`.
pub(crate) fn error_note(message: &str, hint: &str, on_retry: Option<&Callback<()>>) -> Html {
    html! {
        <div class="note error" role="alert">
            { icon(IconName::Error) }
            <div class="note-text">
                <p data-error="">{ message }</p>
                <p class="hint">{ hint }</p>
            </div>
            if let Some(on_retry) = on_retry {
                <button type="button" class="button" onclick={on_retry.reform(|_: MouseEvent| ())}>{ "Try again" }</button>
            }
        </div>
    }
}

/// Shows the link to the list of jobs.
pub(crate) fn way_back() -> Html {
    html! { <nav class="way-back" aria-label="Back"><a href={site_url(&Route::List.path())}>{ "All jobs" }</a></nav> }
}

/// Shows a text with a button that copies it, and `rest` below; `data_lines` marks lines to add to a config.
pub(crate) fn source_section(
    id: &'static str,
    title: &'static str,
    text: &str,
    data_lines: Option<&'static str>,
    rest: Html,
) -> Html {
    html! {
        <section class="section" aria-labelledby={id}>
            <div class="section-head">
                <h2 {id} class="section-title">{ title }</h2>
                <CopyButton text={text.to_owned()} label="Copy" />
            </div>
            <pre class="source" tabindex="0" data-lines={data_lines}><code>{ text }</code></pre>
            { rest }
        </section>
    }
}

/// Returns what was chosen in the select box or typed in the field of an event.
pub(crate) fn value_of(event: &Event) -> String {
    let select = event.target_dyn_into::<HtmlSelectElement>().map(|select| select.value());
    select.or_else(|| Some(event.target_dyn_into::<HtmlInputElement>()?.value())).unwrap_or_default()
}

/// Shows the state of a job, or its outcome once it has ended.
pub(crate) fn state_badge(state: JobState, outcome: Option<JobOutcome>) -> Html {
    html! { <span class={classes!("badge", state_class(state, outcome))}>{ state_word(state, outcome) }</span> }
}

/// Shows a result with the icon and the colour of its outcome.
pub(crate) fn verdict(outcome: JobOutcome, text: &str) -> Html {
    let (name, class) = match outcome {
        JobOutcome::Completed => (IconName::Done, "fits"),
        JobOutcome::OutOfMemory => (IconName::Error, "out-of-memory"),
        JobOutcome::Failed | JobOutcome::Cancelled => (IconName::Warning, "failed"),
    };
    html! { <span class={classes!("verdict", class)} data-verdict={class}>{ icon(name) }{ text }</span> }
}

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct TokenDialogProps {
    /// Handle that receives the token.
    pub token: TokenHandle,
}

/// Asks for the token, which this browser keeps from then on.
#[component]
pub(crate) fn TokenDialog(props: &TokenDialogProps) -> Html {
    let input = use_node_ref();
    let cancel = {
        let token = props.token.clone();
        Callback::from(move |()| token.answer(None))
    };
    let onsubmit = {
        let (token, input) = (props.token.clone(), input.clone());
        move |event: SubmitEvent| {
            event.prevent_default();
            let text =
                input.cast::<HtmlInputElement>().map(|input| input.value().trim().to_owned()).unwrap_or_default();
            if !text.is_empty() {
                token.answer(Some(text));
            }
        }
    };
    html! {
        <Dialog id="token-title" class="small" title="Server token" on_close={cancel.clone()} is_light={false}>
            <form class="token-form" {onsubmit}>
                <p class="hint">
                    { "You need the token of this server to submit and cancel jobs. Ask the server's operator for it. This \
                       browser keeps it." }
                </p>
                <label class="field">
                    <span class="field-label">{ "Token" }</span>
                    <input ref={input} type="password" autocomplete="off" data-focus="" required=true />
                </label>
                <div class="card-foot">
                    <button type="submit" class="button primary">{ "Continue" }</button>
                    <button type="button" class="button" onclick={cancel.reform(|_: MouseEvent| ())}>{ "Cancel" }</button>
                </div>
            </form>
        </Dialog>
    }
}
