//! Modal dialog with a title and a close button.

use super::controls::{bound, click, square_button};
use super::icon::IconName;
use crate::platform::{focus_first, show_modal};
use web_sys::{HtmlElement, Node};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct DialogProps {
    /// Id of the title's element, unique on the page.
    pub id: AttrValue,
    pub title: AttrValue,
    /// CSS classes in addition to `dialog`.
    #[prop_or_default]
    pub class: Classes,
    /// Called when the dialog is closed by its button, the Esc key or a click next to it.
    pub on_close: Callback<()>,
    /// True if a click next to the dialog closes it.
    ///
    /// Must be false if closing would lose input.
    #[prop_or(true)]
    pub is_light: bool,
    pub children: Html,
}

/// Shows a modal dialog; the browser keeps the focus inside and restores it afterwards.
///
/// The element with `data-focus`, if there is one, has the focus first.
#[component]
pub fn Dialog(props: &DialogProps) -> Html {
    let dialog = use_node_ref();
    use_effect_with(dialog.clone(), |dialog| {
        if let Some(dialog) = dialog.cast::<HtmlElement>() {
            // `show_modal` fails only for a dialog outside the document, and this one is inside.
            let _ = show_modal(&dialog);
            // Browsers complain about `autofocus` if something else has the focus when the dialog appears.
            focus_first(&dialog, "[data-focus]");
        }
    });
    let onclose = props.on_close.reform(|_: Event| ());
    // The sheet covers the dialog's whole box, so a click whose target is the dialog itself hit the backdrop.
    let is_light = props.is_light;
    let onclick = bound((dialog.clone(), props.on_close.clone()), move |(dialog, on_close), event: MouseEvent| {
        if is_light && event.target_dyn_into::<Node>().is_some_and(|target| dialog.get() == Some(target)) {
            on_close.emit(());
        }
    });
    html! {
        <dialog class={classes!("dialog", props.class.clone())} ref={dialog} {onclose} {onclick}
            aria-labelledby={&props.id}>
            <div class="sheet">
                <header class="sheet-head">
                    <h2 id={&props.id}>{ &props.title }</h2>
                    { square_button(IconName::Close, "Close", "", Some(click(&props.on_close))) }
                </header>
                { props.children.clone() }
            </div>
        </dialog>
    }
}
