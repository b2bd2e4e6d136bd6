//! Form for the allocator's settings, as controls and as the text they form, and for the card.

use super::model::{CardOption, FIELDS, Field, FieldKind, cards_with, environment, option, refusal, with_option};
use crate::ask::{RecordedSetup, WhatIfSetup};
use crate::components::{CopyButton, IconName, by_position, icon, is_checked, options, text_of};
use crate::hooks::FileHandle;
use crate::state::Choice;
use yew::prelude::*;

pub(super) fn settings_form(
    file: &FileHandle,
    recorded: &RecordedSetup,
    setup: &WhatIfSetup,
    on_conf: &Callback<String>,
) -> Html {
    let refusal = refusal(&setup.conf);
    let on_text = on_conf.reform(|event: InputEvent| text_of(&event));
    html! {
        <form class="what-if-form" aria-label="Settings of the replay" onsubmit={|event: SubmitEvent| event.prevent_default()}>
            { card_picker(file, recorded, setup) }
            { for FIELDS.iter().map(|field| control(field, &setup.conf, on_conf)) }
            <div class="what-if-field wide">
                <label for="what-if-conf">{ &recorded.variable }</label>
                <input id="what-if-conf" class="what-if-text" type="text" value={setup.conf.clone()} spellcheck="false"
                    autocomplete="off" placeholder="default settings" oninput={on_text}
                    aria-invalid={(!refusal.is_empty()).to_string()} aria-describedby="what-if-refusal" />
                <p id="what-if-refusal" class="what-if-refusal" role="alert">
                    if !refusal.is_empty() { { icon(IconName::Error) }{ refusal.clone() } }
                </p>
            </div>
            <div class="what-if-actions">
                <CopyButton text={environment(&setup.conf, &recorded.variable)} label="Copy as environment variable" />
            </div>
            if !recorded.refusal.is_empty() {
                <p class="hint">{ format!("The recorded settings can't be replayed. {}", recorded.refusal) }</p>
            }
        </form>
    }
}

fn card_picker(file: &FileHandle, recorded: &RecordedSetup, setup: &WhatIfSetup) -> Html {
    let (cards, chosen) = cards_with(recorded, setup);
    let labels: Vec<AttrValue> = cards.iter().map(|card| card.label.clone().into()).collect();
    let conf = setup.conf.clone();
    let on_choose = file.choosing(move |position: usize| {
        let CardOption { capacity_bytes, elsewhere_bytes, .. } = cards[position];
        Choice::WhatIf(WhatIfSetup { conf: conf.clone(), capacity_bytes, elsewhere_bytes })
    });
    html! {
        <div class="what-if-field wide">
            <label for="what-if-card">{ "GPU memory" }</label>
            <select id="what-if-card" onchange={by_position(labels.len(), &on_choose)}>{ options(&labels, chosen) }</select>
        </div>
    }
}

fn control(field: &Field, conf: &str, on_conf: &Callback<String>) -> Html {
    let &Field { key, label, placeholder, hint, kind } = field;
    let (id, value) = (format!("what-if-{key}"), option(conf, key).to_owned());
    let (conf, is_on) = (conf.to_owned(), value == "True");
    if kind == FieldKind::Switch {
        let onchange =
            on_conf.reform(move |event: Event| with_option(&conf, key, if is_checked(&event) { "True" } else { "" }));
        return html! {
            <label class="check wide" title={hint}>
                <input type="checkbox" {id} checked={is_on} {onchange} />{ label }<code>{ key }</code>
            </label>
        };
    }
    let oninput = on_conf.reform(move |event: InputEvent| with_option(&conf, key, &text_of(&event)));
    let inputmode = match kind {
        FieldKind::Number { .. } => "numeric",
        FieldKind::Share => "decimal",
        FieldKind::Text | FieldKind::Switch => "text",
    };
    let hint_id = format!("{id}-hint");
    html! {
        <div class="what-if-field" title={hint}>
            <label for={id.clone()}>{ label }</label>
            <code>{ key }</code>
            <input {id} type="text" {inputmode} {value} {placeholder} {oninput} autocomplete="off"
                aria-describedby={hint_id.clone()} />
            <span class="visually-hidden" id={hint_id}>{ hint }</span>
        </div>
    }
}
