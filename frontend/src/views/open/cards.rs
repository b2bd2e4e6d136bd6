//! Cards and bars for files that are not open: being read, with the timeline so far if they are large, unreadable,
//! forgotten by a reload, or not to be forgotten.

use super::part_card::PreviewCurve;
use super::preview_model::progress;
use crate::ask::PreviewDevice;
use crate::components::{IconName, click, icon, is_checked, passing, square_button};
use crate::hooks::ArrivalFailure;
use crate::platform::{can_keep, has_server, site_url};
use crate::state::{Failure, Keeping, Loading, Remedy, Scheme, SessionFile, awaited_text};
use crate::views::head::figures::figure;
use crate::views::head::model::Figure;
use shared::base::format;
use yew::prelude::*;

pub fn arrival_card(ArrivalFailure { title, message, hint }: &ArrivalFailure) -> Html {
    html! {
        <main key="arrival" class="state">
            <section class="card error" role="alert" data-arrival="">
                <h1 class="card-title">{ icon(IconName::Error) }{ *title }</h1>
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

/// Shows which files to drop again, or not to ask for again; renders nothing if all files are open.
pub fn awaited_bar(files: &[SessionFile], on_open: &Callback<()>, on_dismiss: &Callback<()>) -> Html {
    if files.is_empty() {
        return Html::default();
    }
    html! {
        <p class="origin awaited" role="status" data-awaited="">
            { icon(IconName::Info) }<span>{ awaited_text(files) }</span>
            <button type="button" class="button" onclick={click(on_open)}>{ "Open…" }</button>
            { square_button(IconName::Close, "Dismiss", "", Some(click(on_dismiss))) }
        </p>
    }
}

/// Shows what is wrong, where, and what to do; `on_remedy` is called when the user does it.
pub fn error_card(name: &str, failure: &Failure, on_close: &Callback<()>, on_remedy: &Callback<Remedy>) -> Html {
    let Failure { code, message, offset, hint, remedy } = failure;
    // Without a server there are no jobs.
    let remedy = if *remedy == Remedy::Jobs && !has_server() { Remedy::OtherFile } else { *remedy };
    let what = match remedy {
        Remedy::Jobs => "Open in Jobs",
        Remedy::OtherFile => "Open another file",
        Remedy::Retry => "Try again",
        Remedy::Part => "Open part…",
    };
    let on_remedy = passing(on_remedy, remedy);
    html! {
        <main key="error" class="state">
            <section class="card error" role="alert">
                <h1 class="card-title">
                    { icon(IconName::Error) }
                    <span class="error-title">{ format!("{name} could not be read") }</span>
                </h1>
                <p class="error-message" data-error={code.clone()}>{ message }</p>
                if let Some(offset) = offset {
                    <p class="error-place numbers">{ format!("At byte {}", format::count(*offset)) }</p>
                }
                <p class="hint">{ hint }</p>
                <div class="card-foot">
                    <button type="button" class="button primary" onclick={on_remedy}>{ what }</button>
                    <button type="button" class="button" onclick={click(on_close)}>{ "Close" }</button>
                </div>
            </section>
        </main>
    }
}

/// Shows the name, a progress bar, the bytes read, and buttons to cancel or to choose a part of the file instead.
pub fn loading_card(name: &AttrValue, loading: &Loading, on_cancel: &Callback<()>, on_part: &Callback<()>) -> Html {
    let progress = progress(loading);
    let value = progress.share.map(|share| share.to_string());
    let doing = if loading.is_survey { "Scanning " } else { "Reading " };
    html! {
        <main key="loading" class="state">
            <section class="card" aria-busy="true">
                <h1 class="card-title">{ doing }<span class="file-text">{ name }</span></h1>
                <progress class="progress" max="1" {value} aria-label="Progress" />
                <div class="card-foot">
                    <span class="numbers">{ progress.text }</span>
                    if !loading.is_survey {
                        <button type="button" class="button" onclick={click(on_part)}>{ "Open part…" }</button>
                    }
                    <button type="button" class="button" onclick={click(on_cancel)}>{ "Cancel" }</button>
                </div>
                <p class="visually-hidden" role="status">{ progress.spoken }</p>
            </section>
        </main>
    }
}

/// Shows a checkbox with its meaning, or that the browser has no storage for files.
///
/// `keeping` is the state of the shown file, and `on_keep` is called with the new setting.
pub fn keep_box(is_on: bool, keeping: Option<Keeping>, on_keep: &Callback<bool>) -> Html {
    if !can_keep() {
        return html! {
            <p class="keep hint">{ "This browser can't keep files here. After a reload, open them again." }</p>
        };
    }
    let onchange = on_keep.reform(|event: Event| is_checked(&event));
    html! {
        <div class="keep">
            <label class="keep-choice">
                <input type="checkbox" name="keep" checked={is_on} {onchange} />
                <span>{ "Keep open files in this browser for a day" }</span>
            </label>
            <p class="hint">
                { "A reload or Back then reopens them. To delete a copy, close the file’s tab or clear this checkbox." }
            </p>
            if let Some(text) = state_text(is_on, keeping) {
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

/// Shows figures, progress, the curve so far, and buttons to cancel or to choose a part of the file instead.
pub fn preview_view(
    name: &AttrValue,
    loading: &Loading,
    scheme: Scheme,
    on_cancel: &Callback<()>,
    on_part: &Callback<()>,
) -> Html {
    let progress = progress(loading);
    let devices = loading.preview.as_deref().map_or(&[][..], |preview| &preview.devices);
    let device = devices.first().cloned().unwrap_or_default();
    // The file lists devices one after another, so a second device means that the first one is complete.
    let share = if devices.len() > 1 { 1.0 } else { progress.share.unwrap_or(1.0) };
    let value = progress.share.map(|share| share.to_string());
    html! {
        <main class="viewer" aria-busy="true" data-loading="">
            <dl class="figures" data-figures="">{ for figures(devices, &device).iter().map(|row| figure(row, "figure")) }</dl>
            <div class="toolbar">
                <span class="preview-name">{ "Reading " }<span class="file-text">{ name }</span></span>
                <progress class="progress" max="1" {value} aria-label="Progress" />
                <span class="numbers preview-progress">{ progress.text }</span>
                <button type="button" class="button" onclick={click(on_part)}>{ "Open part…" }</button>
                <button type="button" class="button" onclick={click(on_cancel)}>{ "Cancel" }</button>
            </div>
            <div class="workspace">
                <div class="stage">
                    <section class="timeline" aria-label="Timeline so far">
                        <div class="timeline-plot preview-plot">
                            <PreviewCurve {device} {share} {scheme} label={progress.spoken.clone()} />
                        </div>
                    </section>
                </div>
                <aside class="panel">
                    <div class="panel-body">
                        <p class="hint">
                            { "Live bytes of the part read so far. Memory allocated before recording, colors, stacks and findings \
                               are added when the whole file is read." }
                        </p>
                    </div>
                </aside>
            </div>
            <p class="visually-hidden" role="status">{ progress.spoken }</p>
        </main>
    }
}

fn figures(devices: &[PreviewDevice], device: &PreviewDevice) -> [Figure; 2] {
    let highest = device.highest_bytes.iter().copied().max().unwrap_or(0).max(0) as u64;
    let events = devices.iter().map(|device| device.events).sum();
    let devices = format::counted(devices.len() as u64, "device");
    [
        Figure::plain("Peak live so far", format::bytes(highest), "relative to the start", ""),
        Figure::plain("Events so far", format::count(events), format!("on {devices}"), ""),
    ]
}
