//! The state of a job, or what it came to, as a small label.

use crate::view::job::{state_class, state_word};
use shared::api::{JobOutcome, JobState};
use yew::prelude::*;

/// What a [`StateBadge`] shows.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct StateBadgeProps {
    /// The state.
    pub state: JobState,
    /// What the job came to, once it is over.
    pub outcome: Option<JobOutcome>,
}

/// A dot and a word.
#[component]
pub(crate) fn StateBadge(props: &StateBadgeProps) -> Html {
    let StateBadgeProps { state, outcome } = *props;
    html! { <span class={classes!("badge", state_class(state, outcome))}>{ state_word(state, outcome) }</span> }
}
