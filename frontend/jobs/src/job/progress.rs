//! Progress of a job while it runs, the chart of its memory, and its outcome.

use std::rc::Rc;

use frontend::components::icon::{IconName, icon};
use frontend::components::picture::Picture;
use frontend::state::Scheme;
use shared::api::{JobResource, JobState, OutOfMemory};
use shared::base::format;
use yew::prelude::*;

use super::model::chart::{Chart, Course, Source};
use super::model::watch::{Link, Watch};
use crate::common::model::{job, task};
use crate::common::parts::{error_note, figure_list};

/// Shows a bar with the step and its phase, or with the place in the queue.
pub(crate) fn job_progress(resource: &JobResource, watch: &Watch) -> Html {
    let state = watch.state.unwrap_or(resource.state);
    let steps = watch.steps.unwrap_or(resource.steps);
    let is_one = resource.task.is_one();
    let recorded = watch.recorded.last().or(resource.recorded.as_ref());
    let text = match (state, &watch.progress) {
        (JobState::Queued, _) => job::queue_place(resource.before),
        _ if !is_one => task::progress(recorded),
        (_, Some(progress)) => job::place(progress, steps),
        _ => "Starting the recorder".to_owned(),
    };
    let share = if is_one { job::share(watch.progress.as_ref(), steps) } else { task::share(recorded).unwrap_or(0.0) };
    let is_known = if is_one { watch.progress.is_some() } else { task::share(recorded).is_some() };
    let value = (state == JobState::Running && is_known).then(|| share.to_string());
    html! {
        <div class="job-progress" data-progress={share.to_string()}>
            <progress class="progress" max="1" {value} aria-label="Progress" />
            <p class="job-place numbers">
                <span>{ text }</span>
                if watch.link == Link::Away {
                    <span class="away">{ "The server does not respond; trying again" }</span>
                }
            </p>
            // This text changes once per step, not per phase, so that a screen reader can read it to its end.
            <p class="visually-hidden" role="status">{ spoken(state, watch, steps) }</p>
        </div>
    }
}

fn spoken(state: JobState, watch: &Watch, steps: u64) -> String {
    match watch.progress.as_ref().and_then(|progress| progress.step) {
        Some(step) => format!("{}, step {} of {}", job::state_word(state, None), step + 1, steps.max(step + 1)),
        None => job::state_word(state, None).to_owned(),
    }
}

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

/// Shows the figures of a recording and what went wrong.
pub(crate) fn job_outcome(resource: &JobResource) -> Html {
    let oom = resource.result.as_ref().and_then(|report| report.oom.as_ref());
    html! {
        <>
            if let Some(error) = &resource.error {
                { error_note(&error.message, &error.hint, None) }
            }
            if resource.state == JobState::Cancelled {
                <p class="note plain">{ icon(IconName::Stop) }{ "The job was cancelled, and nothing was kept" }</p>
            }
            if let Some(oom) = oom {
                { out_of_memory(oom) }
            }
            if let Some(report) = &resource.result {
                { figure_list(&job::figures(report)) }
            }
        </>
    }
}

pub(crate) fn out_of_memory(oom: &OutOfMemory) -> Html {
    html! {
        <div class="note error">
            { icon(IconName::Warning) }
            <div class="note-text">
                <p><strong>{ "CUDA ran out of memory" }</strong></p>
                <p>{ job::oom_place(oom) }</p>
                <p class="hint oom-message">{ &oom.message }</p>
            </div>
        </div>
    }
}
