//! Asks for the server's token.

use super::modal::Modal;
use crate::hooks::TokenHandle;
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// What a [`TokenDialog`] asks for.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct TokenDialogProps {
    /// What waits for the token.
    pub token: TokenHandle,
}

/// A dialog for the token, which this browser keeps from then on.
#[component]
pub(crate) fn TokenDialog(props: &TokenDialogProps) -> Html {
    let input = use_node_ref();
    let cancel = {
        let token = props.token.clone();
        Callback::from(move |()| token.answer(None))
    };
    let onsubmit = {
        let (token, input) = (props.token.clone(), input.clone());
        move |event: SubmitEvent| {
            event.prevent_default();
            let text =
                input.cast::<HtmlInputElement>().map(|input| input.value().trim().to_owned()).unwrap_or_default();
            if !text.is_empty() {
                token.answer(Some(text));
            }
        }
    };
    html! {
        <Modal title="Token of the server" on_close={cancel.clone()}>
            <form class="token-form" {onsubmit}>
                <p class="hint">
                    { "This server lets whoever has its token submit and cancel jobs. Ask whoever runs it; this browser \
                       keeps it." }
                </p>
                <label class="field">
                    <span class="field-label">{ "Token" }</span>
                    <input ref={input} type="password" autocomplete="off" autofocus=true required=true />
                </label>
                <div class="card-foot">
                    <button type="submit" class="button primary">{ "Continue" }</button>
                    <button type="button" class="button" onclick={cancel.reform(|_: MouseEvent| ())}>{ "Cancel" }</button>
                </div>
            </form>
        </Modal>
    }
}
