//! Dialog that lists the keyboard shortcuts.

use super::keys_model::{KEYS, KeyGroup};
use crate::components::Dialog;
use yew::prelude::*;

pub fn help_dialog(on_close: &Callback<()>) -> Html {
    html! {
        <Dialog id="keys-title" title="Keyboard shortcuts" {on_close}>
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
