//! Dialog that asks for the server's token.

use super::use_token::TokenHandle;
use frontend::components::dialog::Dialog;
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct TokenDialogProps {
    /// Handle that receives the token.
    pub token: TokenHandle,
}

/// Asks for the token, which this browser keeps from then on.
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
        <Dialog id="token-title" class="small" title="Server token" on_close={cancel.clone()} is_light={false}>
            <form class="token-form" {onsubmit}>
                <p class="hint">
                    { "You need the token of this server to submit and cancel jobs. Ask the server's operator for it. This \
                       browser keeps it." }
                </p>
                <label class="field">
                    <span class="field-label">{ "Token" }</span>
                    <input ref={input} type="password" autocomplete="off" data-focus="" required=true />
                </label>
                <div class="card-foot">
                    <button type="submit" class="button primary">{ "Continue" }</button>
                    <button type="button" class="button" onclick={cancel.reform(|_: MouseEvent| ())}>{ "Cancel" }</button>
                </div>
            </form>
        </Dialog>
    }
}
