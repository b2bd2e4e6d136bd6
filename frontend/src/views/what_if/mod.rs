//! What-if tab of the dock: the answer of a sweep, then settings and a card beside their outcome.

mod answer;
pub mod hook;
pub mod model;

use self::answer::{CourseRows, ReplayPlot, figure_table, sweep_answer, sweep_table};
use self::hook::{Replayed, use_recorded_setup, use_replay, use_sweep};
use self::model::{
    CardOption, FIELDS, Field, FieldKind, cards_with, environment, file_name, first_setup, notes, option, refusal,
    summary, with_option,
};
use crate::ask::{RecordedSetup, WhatIfSetup, WriteReplay};
use crate::components::{CopyButton, IconName, bound, by_position, empty, icon, is_checked, options, text_of, waiting};
use crate::hooks::{FileHandle, use_file, use_shown};
use crate::platform::file_of;
use crate::state::Choice;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Number of events up to which settings are tried without a click; each step of a sweep replays them all.
const MOST_EVENTS: u64 = 2_000_000;

/// Replays the device's requests under other settings or on another card.
#[component]
pub(super) fn WhatIf() -> Html {
    let (file, shown) = (use_file(), use_shown());
    let what_if = &shown.ready.choices.what_if;
    let recorded = use_recorded_setup();
    // The first setup is that of the recording; a chosen setup outlives the tab.
    use_effect_with((recorded.clone(), what_if.is_some()), move |(recorded, is_chosen)| {
        if let (Some(Ok(recorded)), false) = (recorded.as_deref(), is_chosen) {
            file.choose(Choice::WhatIf(first_setup(recorded)));
        }
    });
    match (recorded.as_deref(), what_if) {
        (Some(Err(reason)), _) => empty(&format!("{reason}.")),
        (Some(Ok(recorded)), Some(setup)) => {
            html! { <Chosen recorded={recorded.clone()} setup={setup.clone()} /> }
        }
        _ => waiting("Reading the settings of the recording…"),
    }
}

#[derive(Clone, PartialEq, Properties)]
struct ChosenProps {
    recorded: RecordedSetup,
    setup: Rc<WhatIfSetup>,
}

#[component]
fn Chosen(props: &ChosenProps) -> Html {
    let ChosenProps { recorded, setup } = props;
    let (file, shown) = (use_file(), use_shown());
    let replayed = use_replay(setup);
    let sweep = use_sweep(&file.client, shown.device.device);
    // A sweep starts when the view opens and when another card is chosen, unless the trace is long.
    let WhatIfSetup { capacity_bytes, elsewhere_bytes, .. } = **setup;
    let (on_start, first) = (sweep.on_start.clone(), setup.clone());
    let is_short = shown.device.summary.events <= MOST_EVENTS;
    use_effect_with((file.client.clone(), shown.device.device, capacity_bytes, elsewhere_bytes), move |_| {
        if is_short {
            on_start.emit(WhatIfSetup::clone(&first));
        }
    });
    let on_open = on_open(&file, shown.device.device, setup);
    let now = setup.clone();
    let on_apply = file.choosing(move |conf: String| Choice::WhatIf(WhatIfSetup { conf, ..WhatIfSetup::clone(&now) }));
    let is_current = replayed.as_ref().is_some_and(|replayed| replayed.setup == **setup);
    html! {
        <div class="what-if">
            { sweep_answer(&sweep, setup, &recorded.variable, &on_apply) }
            <div class="what-if-columns">
                <div class="what-if-side">
                    { settings_form(&file, recorded, setup, &on_apply) }
                    { sweep_table(&sweep, &setup.conf, &on_apply) }
                </div>
                <section class="what-if-result" aria-label="Replay" aria-busy={(!is_current).to_string()}
                    data-replayed={is_current.to_string()} tabindex="0">
                    { result(replayed.as_deref(), on_open) }
                </section>
            </div>
        </div>
    }
}

fn on_open(file: &FileHandle, device: u32, setup: &Rc<WhatIfSetup>) -> Callback<MouseEvent> {
    bound((file.clone(), setup.clone()), move |(file, setup), _: MouseEvent| {
        let (file, setup) = (file.clone(), WhatIfSetup::clone(setup));
        spawn_local(async move {
            // An error means that the file was closed, or it is already shown in place of the replay.
            if let Ok(blob) = file.client.file(WriteReplay { device, setup: setup.clone() }, |_| ()).await
                && let Some(replay) = file_of(&blob, &file_name(&setup))
            {
                file.open(vec![replay]);
            }
        });
    })
}

fn result(replayed: Option<&Replayed>, on_open: Callback<MouseEvent>) -> Html {
    let Some(Replayed { setup, outcome }) = replayed else {
        return waiting("Replaying…");
    };
    match outcome {
        Err(reason) => html! { <p class="what-if-refusal" role="alert">{ reason.clone() }</p> },
        Ok(data) => html! {
            <>
                <p class="visually-hidden" role="status">{ summary(data) }</p>
                <ReplayPlot data={data.clone()} setup={setup.clone()} />
                <CourseRows data={data.clone()} />
                { figure_table(data) }
                <ul class="what-if-notes">
                    { for notes(data, setup).into_iter().map(|note| html! { <li>{ note }</li> }) }
                </ul>
                <button type="button" class="button" onclick={on_open}>{ "Open the replay" }</button>
            </>
        },
    }
}

fn settings_form(file: &FileHandle, recorded: &RecordedSetup, setup: &WhatIfSetup, on_conf: &Callback<String>) -> Html {
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
