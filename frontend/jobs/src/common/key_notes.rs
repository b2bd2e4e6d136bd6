//! Lists of the keys that were understood and ignored in an imported config.

use shared::base::format;
use yew::prelude::*;

/// Key, and a note on how it was used or why it was not.
pub(crate) type Note = (String, String);

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct KeyNotesProps {
    /// Keys that have a meaning for Snapscope.
    pub understood: Vec<Note>,
    /// Keys that have none.
    pub ignored: Vec<Note>,
}

/// Shows both lists, collapsed.
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
