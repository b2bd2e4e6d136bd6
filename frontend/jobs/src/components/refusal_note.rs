//! Why the server did not do something.

use crate::view::refusal::refusal;
use frontend::components::icon::{Icon, IconName};
use frontend::platform::ApiError;
use yew::prelude::*;

/// What a [`RefusalNote`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct RefusalNoteProps {
    /// Why.
    pub error: ApiError,
    /// It is to be tried again.
    #[prop_or_default]
    pub on_retry: Option<Callback<()>>,
}

/// What happened, what to do, and a button to try again where that can help.
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
