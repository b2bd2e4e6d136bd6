//! The memory of a job over its run, growing while it runs.

use crate::hooks::use_size;
use crate::platform::paint;
use crate::state::Watch;
use crate::view::chart::Chart;
use frontend::draw::theme::Theme;
use frontend::state::Scheme;
use shared::base::format;
use std::rc::Rc;
use web_sys::HtmlCanvasElement;
use yew::prelude::*;

/// What the [`MemoryChart`] shows.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct MemoryChartProps {
    /// What is known of the job.
    pub watch: Rc<Watch>,
    /// The colours.
    pub scheme: Scheme,
}

/// Live and reserved bytes, and the card's memory.
#[component]
pub(crate) fn MemoryChart(props: &MemoryChartProps) -> Html {
    let (frame, canvas) = (use_node_ref(), use_node_ref());
    let size = use_size(&frame);
    let chart = use_memo((Rc::clone(&props.watch), size), |(watch, size)| {
        Chart::new(&watch.samples, watch.memory_bytes, *size)
    });
    use_effect_with((Rc::clone(&chart), props.scheme, size), {
        let canvas = canvas.clone();
        move |(chart, scheme, size)| {
            let theme = if *scheme == Scheme::Dark { Theme::dark() } else { Theme::light() };
            if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
                paint(&canvas, *size, chart, &theme);
            }
        }
    });
    let memory = props.watch.memory_bytes.filter(|_| !chart.has_capacity());
    html! {
        <figure class="chart">
            <div class="chart-frame" ref={frame}>
                <canvas class="chart-canvas" ref={canvas} role="img" aria-label={chart.spoken()}
                    data-samples={props.watch.samples.len().to_string()} />
            </div>
            <figcaption class="legend">
                <span class="legend-live">{ "Live" }</span>
                <span class="legend-reserved">{ "Reserved" }</span>
                <span class="legend-note">{ "Sampled while it runs; the viewer shows every event" }</span>
                if let Some(memory) = memory {
                    <span class="legend-note numbers">{ format!("The card's {} lie above the chart", format::bytes(memory)) }</span>
                }
            </figcaption>
        </figure>
    }
}
