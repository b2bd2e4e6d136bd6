//! Note that explains why a request to the server failed.

use super::model::refusal::refusal;
use frontend::components::icon::{Icon, IconName};
use frontend::platform::ApiError;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct RefusalNoteProps {
    pub error: ApiError,
    /// Called when the request should be sent again; without it there is no button.
    #[prop_or_default]
    pub on_retry: Option<Callback<()>>,
}

/// Shows what happened, what to do, and a button to retry where that can help.
#[component]
pub(crate) fn RefusalNote(props: &RefusalNoteProps) -> Html {
    let refusal = refusal(&props.error);
    html! {
        <div class="note error" role="alert">
            <Icon name={IconName::Error} />
            <div class="note-text">
                <p data-error="">{ refusal.message }</p>
                <p class="hint">{ refusal.hint }</p>
            </div>
            if let Some(on_retry) = &props.on_retry {
                <button type="button" class="button" onclick={on_retry.reform(|_: MouseEvent| ())}>{ "Try again" }</button>
            }
        </div>
    }
}
