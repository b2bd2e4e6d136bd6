//! View of a large file while it is read, with the timeline so far.

use super::part_card::PreviewCurve;
use super::preview_model::progress;
use crate::ask::{PreviewData, PreviewDevice};
use crate::state::{Loading, Scheme};
use shared::base::format;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct PreviewViewProps {
    pub name: AttrValue,
    pub loading: Loading,
    pub scheme: Scheme,
    pub preview: Rc<PreviewData>,
    pub on_cancel: Callback<()>,
    /// Called when a part of the file should be chosen instead.
    pub on_part: Callback<()>,
}

/// Shows figures, progress and the curve so far.
#[component]
pub fn PreviewView(props: &PreviewViewProps) -> Html {
    let progress = progress(&props.loading);
    let device = props.preview.devices.first().cloned().unwrap_or_default();
    // The file lists devices one after another, so a second device means that the first one is complete.
    let share = if props.preview.devices.len() > 1 { 1.0 } else { progress.share.unwrap_or(1.0) };
    let value = progress.share.map(|share| share.to_string());
    html! {
        <main class="viewer" aria-busy="true" data-loading="">
            <dl class="figures" data-figures="">{ for figures(&props.preview, &device).into_iter().map(figure) }</dl>
            <div class="toolbar">
                <span class="preview-name">{ "Reading " }<span class="file-text">{ &props.name }</span></span>
                <progress class="progress" max="1" {value} aria-label="Progress" />
                <span class="numbers preview-progress">{ progress.text }</span>
                <button type="button" class="button" onclick={props.on_part.reform(|_: MouseEvent| ())}>
                    { "Open part…" }
                </button>
                <button type="button" class="button" onclick={props.on_cancel.reform(|_: MouseEvent| ())}>
                    { "Cancel" }
                </button>
            </div>
            <div class="workspace">
                <div class="stage">
                    <section class="timeline" aria-label="Timeline so far">
                        <div class="timeline-plot preview-plot">
                            <PreviewCurve {device} {share} scheme={props.scheme} label={progress.spoken.clone()} />
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

fn figures(preview: &PreviewData, device: &PreviewDevice) -> Vec<(&'static str, String, String)> {
    let highest = device.highest_bytes.iter().copied().max().unwrap_or(0).max(0) as u64;
    let events = preview.devices.iter().map(|device| device.events).sum();
    let devices = format::counted(preview.devices.len() as u64, "device");
    vec![
        ("Peak live so far", format::bytes(highest), "relative to the start".to_owned()),
        ("Events so far", format::count(events), format!("on {devices}")),
    ]
}

fn figure((label, value, note): (&'static str, String, String)) -> Html {
    html! {
        <div class="figure plain">
            <dt>{ label }</dt>
            <dd class="figure-value numbers">{ value }</dd>
            <dd class="figure-note numbers">{ note }</dd>
        </div>
    }
}
