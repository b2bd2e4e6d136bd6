//! A dialog above everything else.

use super::icon::{Icon, IconName};
use crate::platform::show_modal;
use web_sys::{HtmlElement, Node};
use yew::prelude::*;

/// What a [`Dialog`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub struct DialogProps {
    /// A name for its title that no other element of the page has.
    pub id: AttrValue,
    /// Its title.
    pub title: AttrValue,
    /// Classes beside `dialog`.
    #[prop_or_default]
    pub class: Classes,
    /// It was closed, by its button, Esc or a click beside it.
    pub on_close: Callback<()>,
    /// Whether a click beside it closes it, which it must not where something would be lost.
    #[prop_or(true)]
    pub is_light: bool,
    /// What it holds.
    pub children: Html,
}

/// A modal dialog; the browser keeps the focus in it, and gives it back afterwards.
#[component]
pub fn Dialog(props: &DialogProps) -> Html {
    let dialog = use_node_ref();
    use_effect_with(dialog.clone(), |dialog| {
        if let Some(dialog) = dialog.cast::<HtmlElement>() {
            // It fails only for a dialog that is not in the page, and this one is.
            let _ = show_modal(&dialog);
        }
    });
    let onclose = props.on_close.reform(|_: Event| ());
    let on_button = props.on_close.reform(|_: MouseEvent| ());
    // The dialog's own box is its backdrop; everything inside lies in the sheet.
    let onclick = {
        let (dialog, on_close, is_light) = (dialog.clone(), props.on_close.clone(), props.is_light);
        move |event: MouseEvent| {
            if is_light && event.target_dyn_into::<Node>().is_some_and(|target| dialog.get() == Some(target)) {
                on_close.emit(());
            }
        }
    };
    html! {
        <dialog class={classes!("dialog", props.class.clone())} ref={dialog} {onclose} {onclick}
            aria-labelledby={&props.id}>
            <div class="sheet">
                <header class="sheet-head">
                    <h2 id={&props.id}>{ &props.title }</h2>
                    <button type="button" class="button quiet square" onclick={on_button} aria-label="Close">
                        <Icon name={IconName::Close} />
                    </button>
                </header>
                { props.children.clone() }
            </div>
        </dialog>
    }
}
