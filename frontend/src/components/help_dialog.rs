//! The list of keys.

use super::icon::{Icon, IconName};
use crate::platform::show_modal;
use crate::view::keys::{KEYS, KeyGroup};
use web_sys::{HtmlElement, Node};
use yew::prelude::*;

/// What the [`HelpDialog`] tells.
#[derive(Clone, PartialEq, Properties)]
pub struct HelpDialogProps {
    /// It was closed, by its button, Esc or a click beside it.
    pub on_close: Callback<()>,
}

/// A modal list of keys; the browser keeps the focus in it.
#[component]
pub fn HelpDialog(props: &HelpDialogProps) -> Html {
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
        let (dialog, on_close) = (dialog.clone(), props.on_close.clone());
        move |event: MouseEvent| {
            if event.target_dyn_into::<Node>().is_some_and(|target| dialog.get() == Some(target)) {
                on_close.emit(());
            }
        }
    };
    html! {
        <dialog class="dialog" ref={dialog} {onclose} {onclick} aria-labelledby="keys-title">
            <div class="sheet">
                <header class="sheet-head">
                    <h2 id="keys-title">{ "Keys" }</h2>
                    <button type="button" class="button quiet square" onclick={on_button} aria-label="Close">
                        <Icon name={IconName::Close} />
                    </button>
                </header>
                <div class="key-groups">{ for KEYS.iter().map(group) }</div>
            </div>
        </dialog>
    }
}

fn group(group: &KeyGroup) -> Html {
    let line = |(keys, text): &(&[&'static str], &'static str)| {
        html! {
            <div class="key-line">
                <dt>{ for keys.iter().map(|key| html! { <kbd>{ *key }</kbd> }) }</dt>
                <dd>{ *text }</dd>
            </div>
        }
    };
    html! {
        <section>
            <h3>{ group.title }</h3>
            <dl>{ for group.lines.iter().map(line) }</dl>
        </section>
    }
}
