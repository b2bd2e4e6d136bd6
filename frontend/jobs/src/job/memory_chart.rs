//! Chart of a job's memory over its run: live samples first, then the curve of its snapshot.

use super::model::chart::Chart;
use super::model::course::{Course, Source};
use frontend::components::picture::Picture;
use frontend::state::Scheme;
use shared::base::format;
use std::rc::Rc;
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
    let chart = use_memo((Rc::clone(&props.course), props.memory_bytes), |(course, memory_bytes)| {
        Chart::new(Rc::clone(course), *memory_bytes)
    });
    let draw =
        use_callback((Rc::clone(&chart), props.scheme), |size, (chart, scheme)| chart.sketch(size, scheme.theme()));
    let memory = props.memory_bytes.filter(|_| !chart.has_capacity());
    html! {
        <figure class="chart">
            <div class="chart-frame" data-samples={props.course.parts.len().to_string()}
                data-peak-live={props.course.peak_live_bytes().to_string()}
                data-peak-reserved={props.course.peak_reserved_bytes().to_string()}>
                <Picture {draw} label={chart.spoken()} />
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
