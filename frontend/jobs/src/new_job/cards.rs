//! Choice of the GPUs of a sweep: a box for each card of the table, and a line for others.

use shared::base::format;
use shared::job::Card;
use yew::prelude::*;

use super::model::cards::{has, toggled, typed, with_typed};
use super::model::edit::FieldValue;
use crate::common::parts::value_of;

/// Key of the config that the choice sets.
pub(super) const SWEEP_CARDS: &str = "sweep.card";

/// Shows the boxes; the last card can't be removed, since a sweep needs one.
///
/// `written` has the cards of the sweep, or else the card of the config, with commas between them.
/// `on_change` is called with the new value of the key; `None` removes it.
pub(crate) fn card_boxes(written: &str, is_wrong: bool, on_change: &Callback<Option<FieldValue>>) -> Html {
    let card = |card: Card| {
        let onclick = {
            let (changed, on_change) = (toggled(written, &card.name), on_change.clone());
            move |event: MouseEvent| {
                if changed.is_empty() {
                    event.prevent_default();
                } else {
                    on_change.emit(Some(FieldValue::Text(changed.clone())));
                }
            }
        };
        html! {
            <label class="check" key={card.name.clone()}>
                <input type="checkbox" data-card={card.name.clone()} checked={has(written, &card.name)} {onclick} />
                <span>{ &card.name }</span>
                <span class="hint numbers">{ format::bytes(card.memory_bytes) }</span>
            </label>
        }
    };
    let oninput = {
        let (written, on_change) = (written.to_owned(), on_change.clone());
        move |event: InputEvent| {
            let changed = Some(with_typed(&written, &value_of(&event))).filter(|text| !text.is_empty());
            on_change.emit(changed.map(FieldValue::Text));
        }
    };
    html! {
        <fieldset class="cards">
            <legend class="form-title">{ "GPUs" }<code class="field-key" aria-hidden="true">{ SWEEP_CARDS }</code></legend>
            <div class="card-boxes">{ for Card::all().map(card) }</div>
            <label class={classes!("field", is_wrong.then_some("wrong"))}>
                <span class="field-label">{ "Other GPUs" }</span>
                <input type="text" data-key={SWEEP_CARDS} value={typed(written)} {oninput}
                    placeholder="such as custom:48GiB:8.6 or 2x t4-16gb" aria-invalid={is_wrong.to_string()} />
            </label>
        </fieldset>
    }
}
