//! Chart of a job's memory over its run: live samples first, then the curve of its snapshot.

use crate::hooks::use_size;
use crate::platform::paint;
use crate::view::chart::Chart;
use crate::view::course::{Course, Source};
use frontend::draw::theme::Theme;
use frontend::state::Scheme;
use shared::base::format;
use std::rc::Rc;
use web_sys::HtmlCanvasElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct MemoryChartProps {
    pub course: Rc<Course>,
    /// Total memory of the card, if known.
    pub memory_bytes: Option<u64>,
    /// True once the job has ended.
    pub is_over: bool,
    pub scheme: Scheme,
}

/// Draws live bytes, reserved bytes and the card's memory.
#[component]
pub(crate) fn MemoryChart(props: &MemoryChartProps) -> Html {
    let (frame, canvas) = (use_node_ref(), use_node_ref());
    let size = use_size(&frame);
    let chart = use_memo((Rc::clone(&props.course), props.memory_bytes, size), |(course, memory_bytes, size)| {
        Chart::new(Rc::clone(course), *memory_bytes, *size)
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
    let memory = props.memory_bytes.filter(|_| !chart.has_capacity());
    html! {
        <figure class="chart">
            <div class="chart-frame" ref={frame}>
                <canvas class="chart-canvas" ref={canvas} role="img" aria-label={chart.spoken()}
                    data-samples={props.course.parts.len().to_string()}
                    data-peak-live={props.course.peak_live_bytes().to_string()}
                    data-peak-reserved={props.course.peak_reserved_bytes().to_string()} />
            </div>
            <figcaption class="legend">
                <span class="legend-live">{ "Live" }</span>
                <span class="legend-reserved">{ "Reserved" }</span>
                <span class="legend-note">{ source(props.course.source, props.is_over) }</span>
                if let Some(memory) = memory {
                    <span class="legend-note numbers">{ format!("GPU memory of {} is above the chart", format::bytes(memory)) }</span>
                }
            </figcaption>
        </figure>
    }
}

/// Describes the source of the curves, and what they may miss.
fn source(source: Source, is_over: bool) -> &'static str {
    match (source, is_over) {
        (Source::Snapshot, _) => "From the snapshot, by event",
        (Source::Samples, false) => "Sampled during the run: short peaks may be missing",
        (Source::Samples, true) => {
            "Sampled during the run: short peaks may be missing, and there is no curve from a snapshot"
        }
    }
}
