//! The state of a job as a small label.

use crate::view::job::state_word;
use shared::api::JobState;
use yew::prelude::*;

/// What a [`StateBadge`] shows.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct StateBadgeProps {
    /// The state.
    pub state: JobState,
}

/// A dot and a word.
#[component]
pub(crate) fn StateBadge(props: &StateBadgeProps) -> Html {
    html! { <span class={classes!("badge", props.state.word())}>{ state_word(props.state) }</span> }
}
