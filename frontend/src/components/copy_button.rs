//! Button that copies a text to the clipboard.

use super::icon::{Icon, IconName};
use crate::platform::copy_text;
use gloo_timers::future::TimeoutFuture;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Time for which the button shows the outcome, in milliseconds.
const SAID_MS: u32 = 1600;

#[derive(Clone, PartialEq, Properties)]
pub struct CopyButtonProps {
    pub text: AttrValue,
    /// Label before the button is pressed.
    pub label: AttrValue,
}

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Copied,
    Failed,
}

/// Copies a text when pressed, and shows the outcome for a moment.
#[component]
pub fn CopyButton(props: &CopyButtonProps) -> Html {
    let outcome = use_state_eq(|| None);
    let onclick = {
        let (text, outcome) = (props.text.clone(), outcome.clone());
        move |_: MouseEvent| {
            let (text, outcome) = (text.to_string(), outcome.clone());
            spawn_local(async move {
                let is_copied = copy_text(text).await;
                outcome.set(Some(if is_copied { Outcome::Copied } else { Outcome::Failed }));
                TimeoutFuture::new(SAID_MS).await;
                outcome.set(None);
            });
        }
    };
    let (icon, label) = match *outcome {
        None => (IconName::Copy, props.label.clone()),
        Some(Outcome::Copied) => (IconName::Done, "Copied".into()),
        Some(Outcome::Failed) => (IconName::Error, "Blocked by the browser".into()),
    };
    html! {
        <button type="button" class="button quiet" {onclick}>
            <Icon name={icon} /><span aria-live="polite">{ label }</span>
        </button>
    }
}
