//! Cards and bars for files that are not open: being read, unreadable, forgotten by a reload, or not to be forgotten.

use super::preview_model::progress;
use crate::components::icon::{Icon, IconName};
use crate::hooks::ArrivalFailure;
use crate::platform::{can_keep, has_server, site_url};
use crate::state::{Failure, Keeping, Loading, Remedy, SessionFile, awaited_text};
use shared::base::format;
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct ArrivalCardProps {
    pub failure: ArrivalFailure,
}

/// Shows why the address leads to nothing, and where to go instead.
#[component]
pub fn ArrivalCard(props: &ArrivalCardProps) -> Html {
    let ArrivalFailure { title, message, hint } = &props.failure;
    html! {
        <main class="state">
            <section class="card error" role="alert" data-arrival="">
                <h1 class="card-title"><Icon name={IconName::Error} />{ *title }</h1>
                <p class="error-message">{ message }</p>
                <p class="hint">{ hint }</p>
                <div class="card-foot">
                    <a class="button primary" href={site_url("")}>{ "Open your own snapshot" }</a>
                    if has_server() {
                        <a class="button" href={site_url("jobs")}>{ "Jobs" }</a>
                    }
                </div>
            </section>
        </main>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub struct AwaitedBarProps {
    pub files: Vec<SessionFile>,
    pub on_open: Callback<()>,
    /// Called when these files should not be asked for again.
    pub on_dismiss: Callback<()>,
}

/// Shows which files to drop again; renders nothing if all files are open.
#[component]
pub fn AwaitedBar(props: &AwaitedBarProps) -> Html {
    if props.files.is_empty() {
        return Html::default();
    }
    let on_open = props.on_open.reform(|_: MouseEvent| ());
    let on_dismiss = props.on_dismiss.reform(|_: MouseEvent| ());
    html! {
        <p class="origin awaited" role="status" data-awaited="">
            <Icon name={IconName::Info} /><span>{ awaited_text(&props.files) }</span>
            <button type="button" class="button" onclick={on_open}>{ "Open…" }</button>
            <button type="button" class="button quiet square" onclick={on_dismiss} aria-label="Dismiss">
                <Icon name={IconName::Close} />
            </button>
        </p>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub struct ErrorCardProps {
    pub name: AttrValue,
    pub failure: Failure,
    pub on_close: Callback<()>,
    /// Called when the user does what helps.
    pub on_remedy: Callback<Remedy>,
}

/// Shows what is wrong, where, and what to do.
#[component]
pub fn ErrorCard(props: &ErrorCardProps) -> Html {
    let Failure { code, message, offset, hint, remedy } = &props.failure;
    let on_close = props.on_close.reform(|_: MouseEvent| ());
    // Without a server there are no jobs.
    let remedy = if *remedy == Remedy::Jobs && !has_server() { Remedy::OtherFile } else { *remedy };
    let what = match remedy {
        Remedy::Jobs => "Open in Jobs",
        Remedy::OtherFile => "Open another file",
        Remedy::Retry => "Try again",
        Remedy::Part => "Open part…",
    };
    let on_remedy = props.on_remedy.reform(move |_: MouseEvent| remedy);
    html! {
        <main class="state">
            <section class="card error" role="alert">
                <h1 class="card-title">
                    <Icon name={IconName::Error} />
                    <span class="error-title">{ format!("{} could not be read", props.name) }</span>
                </h1>
                <p class="error-message" data-error={code.clone()}>{ message }</p>
                if let Some(offset) = offset {
                    <p class="error-place numbers">{ format!("At byte {}", format::count(*offset)) }</p>
                }
                <p class="hint">{ hint }</p>
                <div class="card-foot">
                    <button type="button" class="button primary" onclick={on_remedy}>{ what }</button>
                    <button type="button" class="button" onclick={on_close}>{ "Close" }</button>
                </div>
            </section>
        </main>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub struct LoadingCardProps {
    pub name: AttrValue,
    pub loading: Loading,
    pub on_cancel: Callback<()>,
    /// Called when a part of the file should be chosen instead.
    pub on_part: Callback<()>,
}

/// Shows the name, a progress bar, the bytes read and a cancel button.
#[component]
pub fn LoadingCard(props: &LoadingCardProps) -> Html {
    let progress = progress(&props.loading);
    let on_cancel = props.on_cancel.reform(|_: MouseEvent| ());
    let value = progress.share.map(|share| share.to_string());
    let doing = if props.loading.is_survey { "Scanning " } else { "Reading " };
    html! {
        <main class="state">
            <section class="card" aria-busy="true">
                <h1 class="card-title">{ doing }<span class="file-text">{ &props.name }</span></h1>
                <progress class="progress" max="1" {value} aria-label="Progress" />
                <div class="card-foot">
                    <span class="numbers">{ progress.text }</span>
                    if !props.loading.is_survey {
                        <button type="button" class="button" onclick={props.on_part.reform(|_: MouseEvent| ())}>
                            { "Open part…" }
                        </button>
                    }
                    <button type="button" class="button" onclick={on_cancel}>{ "Cancel" }</button>
                </div>
                <p class="visually-hidden" role="status">{ progress.spoken }</p>
            </section>
        </main>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub struct KeepBoxProps {
    /// True if open files are kept.
    pub is_on: bool,
    /// State of the shown file; `None` if no file is shown.
    #[prop_or_default]
    pub keeping: Option<Keeping>,
    /// Called with the new setting.
    pub on_keep: Callback<bool>,
}

/// Shows a checkbox with its meaning, or that the browser has no storage for files.
#[component]
pub fn KeepBox(props: &KeepBoxProps) -> Html {
    if !can_keep() {
        return html! {
            <p class="keep hint">{ "This browser can't keep files here. After a reload, open them again." }</p>
        };
    }
    let onchange = props.on_keep.reform(|event: Event| event.target_unchecked_into::<HtmlInputElement>().checked());
    html! {
        <div class="keep">
            <label class="keep-choice">
                <input type="checkbox" name="keep" checked={props.is_on} {onchange} />
                <span>{ "Keep open files in this browser for a day" }</span>
            </label>
            <p class="hint">
                { "A reload or Back then reopens them. To delete a copy, close the file’s tab or clear this checkbox." }
            </p>
            if let Some(text) = state_text(props.is_on, props.keeping) {
                <p class="hint" role="status" data-keeping="">{ text }</p>
            }
        </div>
    }
}

fn state_text(is_on: bool, keeping: Option<Keeping>) -> Option<&'static str> {
    match (is_on, keeping?) {
        (false, _) => Some("This file is not kept: the browser asks before you leave the page."),
        (true, Keeping::Kept) => Some("This file is kept."),
        (true, Keeping::NotYet | Keeping::Begun) => Some("This file is not kept yet."),
        (true, Keeping::Never) => {
            Some("There is not enough storage to keep this file: the browser asks before you leave the page.")
        }
    }
}
