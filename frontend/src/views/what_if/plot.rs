//! Plot of the reserved bytes as recorded and as replayed.

use super::model::{HEIGHT, WIDTH, plot, sketch, summary};
use crate::ask::{ReplayData, WhatIfSetup};
use crate::state::Scheme;
use crate::views::export::picture::use_easel;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct ReplayPlotProps {
    /// Result of the replay, with the recording to compare with.
    pub(super) data: ReplayData,
    /// Settings and card of the replay.
    pub(super) setup: WhatIfSetup,
    pub(super) scheme: Scheme,
}

/// Shows the live bytes, the reserved bytes as recorded and as replayed, and the card's memory.
#[component]
pub(super) fn ReplayPlot(props: &ReplayPlotProps) -> Html {
    let plot = use_memo(props.clone(), |props| plot(&props.data, &props.setup));
    let easel = use_easel();
    use_effect_with((easel, props.clone()), |(easel, props)| {
        easel.put(0, sketch(&props.data, &props.setup, props.scheme.theme()));
        let easel = easel.clone();
        move || easel.clear(0)
    });
    html! {
        <figure class="what-if-plot">
            <svg role="img" aria-label={summary(&props.data)}>
                { for plot.ticks.iter().map(tick) }
                <svg viewBox={format!("0 0 {WIDTH} {HEIGHT}")} preserveAspectRatio="none">
                    <path class="what-if-live" d={plot.live.clone()} />
                    <path class="what-if-recorded" d={plot.recorded.clone()} />
                    <path class="what-if-replayed" d={plot.replayed.clone()} />
                    if let Some(y) = plot.capacity {
                        <path class="what-if-card-line" d={format!("M0 {y:.2}H{WIDTH}")} />
                    }
                    if let Some(x) = plot.oom {
                        <path class="what-if-oom" d={format!("M{x:.1} 0V{HEIGHT}")} />
                    }
                </svg>
            </svg>
            <figcaption class="what-if-legend">
                <span class="what-if-key-live">{ "Live" }</span>
                <span class="what-if-key-recorded">{ "Reserved, recorded" }</span>
                <span class="what-if-key-replayed">{ "Reserved, replayed" }</span>
                if plot.oom.is_some() { <span class="what-if-key-oom">{ "Out of memory" }</span> }
                if !plot.capacity_label.is_empty() {
                    <span class={classes!("numbers", plot.capacity.map(|_| "what-if-key-card"))}>
                        { plot.capacity_label.clone() }
                    </span>
                }
            </figcaption>
        </figure>
    }
}

/// Draws the grid line and the label of a tick; its height counts from the top, in units of [`HEIGHT`].
pub(super) fn tick((height, label): &(f64, String)) -> Html {
    let y = format!("{:.2}%", height / HEIGHT * 100.0);
    html! {
        <>
            <line class="what-if-grid" x1="0" x2="100%" y1={y.clone()} y2={y.clone()} />
            <text x="4" {y} dy="-3">{ label.clone() }</text>
        </>
    }
}
