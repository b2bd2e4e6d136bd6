//! A dialog above everything else.

use frontend::components::icon::{Icon, IconName};
use frontend::platform::show_modal;
use web_sys::HtmlElement;
use yew::prelude::*;

/// What a [`Modal`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ModalProps {
    /// Its title.
    pub title: AttrValue,
    /// It was closed, by its button or Esc.
    pub on_close: Callback<()>,
    /// What it holds.
    pub children: Html,
}

/// A modal dialog; the browser keeps the focus in it.
#[component]
pub(crate) fn Modal(props: &ModalProps) -> Html {
    let dialog = use_node_ref();
    use_effect_with(dialog.clone(), |dialog| {
        if let Some(dialog) = dialog.cast::<HtmlElement>() {
            // It fails only for a dialog that is not in the page, and this one is.
            let _ = show_modal(&dialog);
        }
    });
    let onclose = props.on_close.reform(|_: Event| ());
    let onclick = props.on_close.reform(|_: MouseEvent| ());
    html! {
        <dialog class="dialog small" ref={dialog} {onclose} aria-labelledby="modal-title">
            <div class="sheet">
                <header class="sheet-head">
                    <h2 id="modal-title">{ &props.title }</h2>
                    <button type="button" class="button quiet square" {onclick} aria-label="Close">
                        <Icon name={IconName::Close} />
                    </button>
                </header>
                { props.children.clone() }
            </div>
        </dialog>
    }
}
