//! Both reserved curves on one plot.

use crate::components::dock::picture::use_easel;
use crate::components::timeline::theme_of;
use crate::state::Scheme;
use crate::view::what_if::{HEIGHT, WIDTH, plot, sketch, summary};
use crate::worker::{ReplayData, WhatIfSetup};
use yew::prelude::*;

/// What the [`ReplayPlot`] shows.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct ReplayPlotProps {
    /// The replay and the recording.
    pub(super) data: ReplayData,
    /// Under what it was replayed.
    pub(super) setup: WhatIfSetup,
    /// The colours.
    pub(super) scheme: Scheme,
}

/// Live bytes, reserved bytes as recorded and as replayed, and the card's memory.
#[component]
pub(super) fn ReplayPlot(props: &ReplayPlotProps) -> Html {
    let plot = use_memo(props.clone(), |props| plot(&props.data, &props.setup));
    let easel = use_easel();
    use_effect_with((easel, props.clone()), |(easel, props)| {
        easel.put(0, sketch(&props.data, &props.setup, theme_of(props.scheme)));
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

/// The line and the label of a height, in units of the plots' [`HEIGHT`] from the top.
pub(super) fn tick((height, label): &(f64, String)) -> Html {
    let y = format!("{:.2}%", height / HEIGHT * 100.0);
    html! {
        <>
            <line class="what-if-grid" x1="0" x2="100%" y1={y.clone()} y2={y.clone()} />
            <text x="4" {y} dy="-3">{ label.clone() }</text>
        </>
    }
}
