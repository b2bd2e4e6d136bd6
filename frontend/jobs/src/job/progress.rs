//! Progress of an unfinished job.

use super::model::watch::{Link, Watch};
use crate::common::model::{job, task};
use shared::api::{JobResource, JobState, JobTask};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct JobProgressProps {
    pub job: JobResource,
    /// State derived from the job's events.
    pub watch: Rc<Watch>,
}

/// Shows a bar with the step and its phase, or with the place in the queue.
#[component]
pub(crate) fn JobProgress(props: &JobProgressProps) -> Html {
    let JobProgressProps { job: resource, watch } = props;
    let state = watch.state.unwrap_or(resource.state);
    let steps = watch.steps.unwrap_or(resource.steps);
    let is_one = resource.task == JobTask::Record;
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
