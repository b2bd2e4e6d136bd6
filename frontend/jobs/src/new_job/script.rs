//! Choice of the GPU and the steps of a script, and what a server without scripts says.

use frontend::components::icon::{IconName, icon};
use yew::prelude::*;

use super::form::select;
use super::model::draft::Script;
use super::model::fields::cards;
use crate::common::parts::value_of;

/// Shows the two fields.
pub(crate) fn script_form(script: &Script, on_change: &Callback<Script>) -> Html {
    let on_card = {
        let (script, on_change) = (script.clone(), on_change.clone());
        Callback::from(move |card| on_change.emit(Script { card, ..script.clone() }))
    };
    let on_steps = {
        let (script, on_change) = (script.clone(), on_change.clone());
        move |event: InputEvent| {
            if let Ok(steps) = value_of(&event).parse() {
                on_change.emit(Script { steps, ..script.clone() });
            }
        }
    };
    html! {
        <fieldset class="form">
            <legend class="visually-hidden">{ "Script" }</legend>
            <div class="fields">
                <label class="field wide">
                    <span class="field-label">{ "GPU" }</span>
                    { select("card", &script.card, None, &cards(), None, &on_card) }
                </label>
                <label class="field">
                    <span class="field-label">{ "Steps" }</span>
                    <input type="number" min="1" max="10000" data-key="steps" value={script.steps.to_string()} oninput={on_steps} />
                </label>
            </div>
            <p class="hint">
                { "It runs in a sandbox without network, reads nothing but Python and its packages, starts no other process, and ends after these optimizer steps." }
            </p>
        </fieldset>
    }
}

/// Says why this server runs no scripts.
pub(crate) fn no_scripts() -> Html {
    html! {
        <p class="note plain" role="status">
            { icon(IconName::Info) }
            <span class="note-text">
                { "This server runs no scripts: a script is foreign code, so its operator has to allow it with " }
                <code>{ "--scripts" }</code>
                { ". On your own machine, " }
                <code>{ "snapscope run -- python train.py" }</code>
                { " makes the same recording." }
            </span>
        </p>
    }
}
