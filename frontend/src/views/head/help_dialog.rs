//! Dialog that lists the keyboard shortcuts.

use super::keys_model::{KEYS, KeyGroup};
use crate::components::dialog::Dialog;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct HelpDialogProps {
    pub on_close: Callback<()>,
}

/// Shows the keyboard shortcuts by group.
#[component]
pub fn HelpDialog(props: &HelpDialogProps) -> Html {
    html! {
        <Dialog id="keys-title" title="Keyboard shortcuts" on_close={props.on_close.clone()}>
            <div class="key-groups">{ for KEYS.iter().map(group) }</div>
        </Dialog>
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
