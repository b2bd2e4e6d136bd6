//! Plot of the reserved bytes as recorded and as replayed.

use super::model::{plot, summary};
use crate::ask::{ReplayData, WhatIfSetup};
use crate::components::picture::Picture;
use crate::hooks::use_file;
use crate::views::export::picture::use_easel;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct ReplayPlotProps {
    /// Result of the replay, with the recording to compare with.
    pub(super) data: ReplayData,
    /// Settings and card of the replay.
    pub(super) setup: WhatIfSetup,
}

/// Shows the live bytes, the reserved bytes as recorded and as replayed, and the card's memory.
#[component]
pub(super) fn ReplayPlot(props: &ReplayPlotProps) -> Html {
    let scheme = use_file().scheme;
    let drawn = (props.clone(), scheme);
    let plot = use_memo(drawn, |(props, scheme)| plot(&props.data, &props.setup, scheme.theme()));
    let easel = use_easel();
    use_effect_with((easel, plot.clone(), scheme), |(easel, plot, scheme)| {
        easel.put(0, plot.curves.saved(scheme.theme()));
        let easel = easel.clone();
        move || easel.clear(0)
    });
    let draw = use_callback((plot.clone(), scheme), |size, (plot, scheme)| plot.curves.sketch(size, scheme.theme()));
    html! {
        <figure class="what-if-plot">
            <Picture {draw} label={summary(&props.data)} />
            <figcaption class="what-if-legend">
                <span class="what-if-key-live">{ "Live" }</span>
                <span class="what-if-key-recorded">{ "Reserved, recorded" }</span>
                <span class="what-if-key-replayed">{ "Reserved, replayed" }</span>
                if plot.has_oom { <span class="what-if-key-oom">{ "Out of memory" }</span> }
                if !plot.capacity_label.is_empty() {
                    <span class={classes!("numbers", plot.has_capacity.then_some("what-if-key-card"))}>
                        { plot.capacity_label.clone() }
                    </span>
                }
            </figcaption>
        </figure>
    }
}
