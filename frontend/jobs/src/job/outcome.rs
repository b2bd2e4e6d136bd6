//! Result of a job: figures, an out-of-memory error, or another error.

use crate::common::figure_list::FigureList;
use crate::common::model::job;
use frontend::components::icon::{Icon, IconName};
use shared::api::{JobDetails, JobError, JobState, OutOfMemory};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct JobOutcomeProps {
    pub details: JobDetails,
}

/// Shows the figures of a recording and what went wrong.
#[component]
pub(crate) fn JobOutcome(props: &JobOutcomeProps) -> Html {
    let JobDetails { job: resource, .. } = &props.details;
    let oom = resource.result.as_ref().and_then(|report| report.oom.as_ref());
    html! {
        <>
            if let Some(error) = &resource.error {
                { failure(error) }
            }
            if resource.state == JobState::Cancelled {
                <p class="note plain"><Icon name={IconName::Stop} />{ "The job was cancelled, and nothing was kept" }</p>
            }
            if let Some(oom) = oom {
                { out_of_memory(oom) }
            }
            if let Some(report) = &resource.result {
                <FigureList figures={job::figures(report)} />
            }
        </>
    }
}

fn failure(error: &JobError) -> Html {
    html! {
        <div class="note error" role="alert">
            <Icon name={IconName::Error} />
            <div class="note-text">
                <p data-error="">{ &error.message }</p>
                <p class="hint">{ &error.hint }</p>
            </div>
        </div>
    }
}

pub(crate) fn out_of_memory(oom: &OutOfMemory) -> Html {
    html! {
        <div class="note error">
            <Icon name={IconName::Warning} />
            <div class="note-text">
                <p><strong>{ "CUDA ran out of memory" }</strong></p>
                <p>{ job::oom_place(oom) }</p>
                <p class="hint oom-message">{ &oom.message }</p>
            </div>
        </div>
    }
}
