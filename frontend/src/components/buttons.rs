//! Buttons that copy a text to the clipboard, or make a file and save it, and show the outcome.

use super::controls::bound;
use super::icon::{IconName, icon};
use crate::platform::{Blob, copy_text, save};
use gloo_timers::future::TimeoutFuture;
use std::pin::Pin;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Time for which a button shows the outcome, in milliseconds.
const SAID_MS: u32 = 1600;

#[derive(Clone, PartialEq, Properties)]
pub struct CopyButtonProps {
    pub text: AttrValue,
    pub label: AttrValue,
}

/// Copies a text when pressed, and shows the outcome for a moment.
#[component]
pub fn CopyButton(props: &CopyButtonProps) -> Html {
    let is_copied = use_state_eq(|| None::<bool>);
    let onclick = bound((props.text.clone(), is_copied.setter()), move |(text, is_copied), _: MouseEvent| {
        let (text, is_copied) = (text.to_string(), is_copied.clone());
        spawn_local(async move {
            is_copied.set(Some(copy_text(text).await));
            TimeoutFuture::new(SAID_MS).await;
            is_copied.set(None);
        });
    });
    let (name, label) = match *is_copied {
        None => (IconName::Copy, props.label.clone()),
        Some(true) => (IconName::Done, "Copied".into()),
        Some(false) => (IconName::Error, "Blocked by the browser".into()),
    };
    html! {
        <button type="button" class="button quiet" {onclick}>
            { icon(name) }<span aria-live="polite">{ label }</span>
        </button>
    }
}

/// A file being made; fails with the reason why there is none.
pub type Making = Pin<Box<dyn Future<Output = Result<Blob, String>>>>;

#[derive(Clone, PartialEq, Properties)]
pub struct ExportButtonProps {
    pub label: AttrValue,
    /// Tooltip and accessible name, which say what the button does.
    pub title: AttrValue,
    pub name: AttrValue,
    pub make: Callback<(), Making>,
}

#[derive(Clone, PartialEq)]
enum Step {
    Idle,
    Making,
    Saved,
    Failed(String),
}

/// Makes a file when pressed and saves it under `name`; the button is disabled meanwhile.
#[component]
pub fn ExportButton(props: &ExportButtonProps) -> Html {
    let step = use_state_eq(|| Step::Idle);
    let onclick =
        bound((step.setter(), props.make.clone(), props.name.clone()), move |(step, make, name), _: MouseEvent| {
            let (step, making, name) = (step.clone(), make.emit(()), name.clone());
            step.set(Step::Making);
            spawn_local(async move {
                let made = making
                    .await
                    .and_then(|file| save(&file, &name).map_err(|_| "the browser ran out of memory".to_owned()));
                match made {
                    Ok(()) => {
                        step.set(Step::Saved);
                        TimeoutFuture::new(SAID_MS).await;
                        step.set(Step::Idle);
                    }
                    Err(reason) => step.set(Step::Failed(reason)),
                }
            });
        });
    let (name, said) = match &*step {
        Step::Idle => (IconName::Drop, String::new()),
        Step::Making => (IconName::Again, "Creating the file…".to_owned()),
        Step::Saved => (IconName::Done, format!("Saved as {}", props.name)),
        Step::Failed(reason) => (IconName::Error, format!("Not saved: {reason}")),
    };
    let title = if said.is_empty() { props.title.to_string() } else { said.clone() };
    html! {
        <button type="button" class="button export-button" {onclick} {title} disabled={*step == Step::Making}
            aria-label={props.title.clone()} data-export={props.name.clone()}>
            { icon(name) }{ &props.label }<span class="visually-hidden" role="status">{ said }</span>
        </button>
    }
}
