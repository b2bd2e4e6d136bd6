//! Table of the memory that stays after steps, by reason, and the choice of a card.

use super::growth_model::{GrowthLine, card_options, growth_line};
use crate::hooks::use_file;
use crate::state::{FileAction, ThisCard};
use shared::analysis::ClassTotal;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct GrowthTableProps {
    /// Sums of the memory that stays, by the reason why it stays.
    pub(super) classes: Vec<ClassTotal>,
}

/// Shows a row per reason why memory stays; renders nothing without steps.
#[component]
pub(super) fn GrowthTable(props: &GrowthTableProps) -> Html {
    if props.classes.is_empty() {
        return Html::default();
    }
    let row = |line: GrowthLine| {
        let GrowthLine { name, hint, end, per_step, when, is_leak } = line;
        html! {
            <tr class={classes!(is_leak.then_some("leak"))} data-growth={name}>
                <th scope="row" title={hint}>{ name }</th>
                <td class="numbers">{ end }</td>
                <td class="numbers">{ per_step }</td>
                <td class="numbers">{ when }</td>
            </tr>
        }
    };
    html! {
        <table class="growth-table">
            <caption>{ "Memory that stays after steps" }</caption>
            <thead>
                <tr>
                    <th scope="col">{ "Kind" }</th>
                    <th scope="col">{ "At the end" }</th>
                    <th scope="col">{ "Per step" }</th>
                    <th scope="col">{ "In steps" }</th>
                </tr>
            </thead>
            <tbody>{ for props.classes.iter().map(growth_line).map(row) }</tbody>
        </table>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct CardPickerProps {
    /// Memory available to PyTorch when the recording ran out of memory.
    pub(super) recorded_bytes: Option<u64>,
    pub(super) card: Option<ThisCard>,
}

/// Shows the choice of a card, which tells when growth fills it and what others used of it.
#[component]
pub(super) fn CardPicker(props: &CardPickerProps) -> Html {
    let CardPickerProps { recorded_bytes, card } = props;
    let file = use_file();
    let options = card_options(*recorded_bytes, *card);
    let chosen = options.iter().position(|option| option.card == *card).unwrap_or(0);
    let onchange = {
        let options = options.clone();
        file.acting(move |event: Event| {
            let position = event.target_unchecked_into::<HtmlSelectElement>().selected_index();
            FileAction::ChooseCard(options.get(position.max(0) as usize).and_then(|option| option.card))
        })
    };
    let option = |(position, option): (usize, &crate::views::findings::growth_model::CardLine)| {
        html! { <option selected={position == chosen}>{ option.label.clone() }</option> }
    };
    html! {
        <div class="findings-card">
            <label for="findings-card">{ "GPU memory" }</label>
            <select id="findings-card" {onchange}
                title="Shows when growth fills the GPU, what was in use outside PyTorch, and a line in the timeline">
                { for options.iter().enumerate().map(option) }
            </select>
        </div>
    }
}
