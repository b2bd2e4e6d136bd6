//! Form for the allocator's settings, as controls and as the text they form, and for the card.

use super::model::{FIELDS, Field, FieldKind, cards_with, environment, option, refusal, with_option};
use crate::ask::{RecordedSetup, WhatIfSetup};
use crate::components::{CopyButton, IconName, icon};
use crate::hooks::{FileHandle, use_file};
use crate::state::Choice;
use std::rc::Rc;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct SettingsFormProps {
    pub(super) recorded: RecordedSetup,
    pub(super) setup: Rc<WhatIfSetup>,
    pub(super) on_conf: Callback<String>,
}

#[component]
pub(super) fn SettingsForm(props: &SettingsFormProps) -> Html {
    let SettingsFormProps { recorded, setup, on_conf } = props;
    let file = use_file();
    let refusal = refusal(&setup.conf);
    let on_text = on_conf.reform(|event: InputEvent| event.target_unchecked_into::<HtmlInputElement>().value());
    html! {
        <form class="what-if-form" aria-label="Settings of the replay" onsubmit={|event: SubmitEvent| event.prevent_default()}>
            { card_picker(&file, recorded, setup) }
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

fn card_picker(file: &FileHandle, recorded: &RecordedSetup, setup: &Rc<WhatIfSetup>) -> Html {
    let (options, chosen) = cards_with(recorded, setup);
    let onchange = {
        let (setup, options) = (setup.clone(), options.clone());
        file.choosing(move |event: Event| {
            let position = event.target_unchecked_into::<HtmlSelectElement>().selected_index();
            let card = options.get(position.max(0) as usize);
            Choice::WhatIf(WhatIfSetup {
                conf: setup.conf.clone(),
                capacity_bytes: card.and_then(|card| card.capacity_bytes),
                elsewhere_bytes: card.map_or(0, |card| card.elsewhere_bytes),
            })
        })
    };
    let option = |(position, card): (usize, &crate::views::what_if::model::CardOption)| {
        html! { <option selected={position == chosen}>{ card.label.clone() }</option> }
    };
    html! {
        <div class="what-if-field wide">
            <label for="what-if-card">{ "GPU memory" }</label>
            <select id="what-if-card" {onchange}>{ for options.iter().enumerate().map(option) }</select>
        </div>
    }
}

fn control(field: &Field, conf: &str, on_conf: &Callback<String>) -> Html {
    let &Field { key, label, placeholder, hint, kind } = field;
    let (id, value) = (format!("what-if-{key}"), option(conf, key).to_owned());
    let (conf, is_on) = (conf.to_owned(), value == "True");
    if kind == FieldKind::Switch {
        let onchange = on_conf.reform(move |event: Event| {
            let is_on = event.target_unchecked_into::<HtmlInputElement>().checked();
            with_option(&conf, key, if is_on { "True" } else { "" })
        });
        return html! {
            <label class="check wide" title={hint}>
                <input type="checkbox" {id} checked={is_on} {onchange} />{ label }<code>{ key }</code>
            </label>
        };
    }
    let oninput = on_conf.reform(move |event: InputEvent| {
        with_option(&conf, key, &event.target_unchecked_into::<HtmlInputElement>().value())
    });
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
