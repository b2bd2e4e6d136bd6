//! View of a large file while it is read, with the timeline so far.

use super::part_card::PreviewCurve;
use super::preview_model::progress;
use crate::ask::PreviewDevice;
use crate::components::click;
use crate::state::{Loading, Scheme};
use crate::views::head::figures::figure;
use crate::views::head::model::Figure;
use shared::base::format;
use yew::prelude::*;

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
