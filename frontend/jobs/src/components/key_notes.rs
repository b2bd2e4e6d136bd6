//! What became of each key of a foreign config.

use shared::base::format;
use yew::prelude::*;

/// A key and what became of it.
pub(crate) type Note = (String, String);

/// What [`KeyNotes`] show.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct KeyNotesProps {
    /// Keys that mean something here.
    pub understood: Vec<Note>,
    /// Keys that don't.
    pub ignored: Vec<Note>,
}

/// Two lists of keys, folded up.
#[component]
pub(crate) fn KeyNotes(props: &KeyNotesProps) -> Html {
    if props.understood.is_empty() && props.ignored.is_empty() {
        return Html::default();
    }
    html! {
        <div class="key-notes">
            { list("understood", &props.understood) }
            { list("ignored", &props.ignored) }
        </div>
    }
}

fn list(what: &str, notes: &[Note]) -> Html {
    if notes.is_empty() {
        return Html::default();
    }
    let row = |(key, note): &Note| html! { <div class="key-note"><dt>{ key }</dt><dd>{ note }</dd></div> };
    html! {
        <details class="fold">
            <summary>{ format!("{} {what}", format::counted(notes.len() as u64, "key")) }</summary>
            <dl>{ for notes.iter().map(row) }</dl>
        </details>
    }
}
