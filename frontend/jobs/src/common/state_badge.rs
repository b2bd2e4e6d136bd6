//! Small label with a job's state or outcome.

use super::model::job::{state_class, state_word};
use shared::api::{JobOutcome, JobState};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct StateBadgeProps {
    pub state: JobState,
    /// Outcome of the job, once it has ended.
    pub outcome: Option<JobOutcome>,
}

#[component]
pub(crate) fn StateBadge(props: &StateBadgeProps) -> Html {
    let StateBadgeProps { state, outcome } = *props;
    html! { <span class={classes!("badge", state_class(state, outcome))}>{ state_word(state, outcome) }</span> }
}
