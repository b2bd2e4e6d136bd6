//! Panel tab for the findings, the most important ones first, with the memory that stays after steps.

pub mod card;
pub mod finding_card;
pub mod model;

use self::card::use_try;
use self::finding_card::FindingCard;
use self::model::{GrowthLine, Lead, card_options, growth_line, lead};
use super::export::picture::SheetButtons;
use super::head::model::device_name;
use crate::ask::SheetOf;
use crate::hooks::{use_file, use_shown};
use crate::state::{FileAction, ReadyFile, ThisCard};
use shared::analysis::ClassTotal;
use shared::report::Finding;
use std::rc::Rc;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

/// Shows the findings of all devices as cards.
#[component]
pub(super) fn FindingList() -> Html {
    let (opened, shown) = (use_file(), use_shown());
    let file = &shown.ready;
    let on_try = use_try(&opened, &shown);
    // Copied once per diagnosis, so that other changes do not render the cards of a hundred stacks again.
    let rows = use_memo(file.findings.clone(), |findings| {
        let rows = findings.iter().flat_map(|diagnosis| &diagnosis.findings);
        rows.map(|finding| Rc::new(finding.clone())).collect::<Vec<_>>()
    });
    let Some(diagnosis) = &file.findings else {
        return html! { <p class="panel-empty" role="status">{ "Analyzing steps, growth and waste…" }</p> };
    };
    let Lead { title, growth, looked_for } = lead(diagnosis);
    let summary = &file.summary;
    let run = diagnosis.runs.iter().find(|run| run.device == file.device_index());
    let card = |(rank, finding): (usize, &Rc<Finding>)| {
        html! {
            <FindingCard key={rank} finding={finding.clone()} position={summary.position_of(finding.device)}
                device={name_of(file, finding)} on_try={&on_try} />
        }
    };
    html! {
        <section class="findings" aria-label="Findings">
            <div class="findings-lead" role="status">
                <strong>{ title }</strong>
                <p>{ growth }</p>
                if !looked_for.is_empty() { <p>{ looked_for }</p> }
            </div>
            <ol>{ for rows.iter().enumerate().map(card) }</ol>
            if let Some(run) = run {
                if let Some(growth) = diagnosis.growth_of(run.device) {
                    { growth_table(&growth.classes) }
                }
                <CardPicker recorded_bytes={run.recorded_capacity_bytes} card={file.card} />
            }
            if !rows.is_empty() {
                <SheetButtons table="findings" of={|()| SheetOf::Findings} />
            }
        </section>
    }
}

/// Returns the name of a finding's device, if the file has several devices.
fn name_of(file: &ReadyFile, finding: &Finding) -> Option<AttrValue> {
    (file.summary.devices.len() > 1).then(|| device_name(finding.device).into())
}

/// Shows a row per reason why memory stays; renders nothing without steps.
fn growth_table(classes: &[ClassTotal]) -> Html {
    if classes.is_empty() {
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
            <tbody>{ for classes.iter().map(growth_line).map(row) }</tbody>
        </table>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct CardPickerProps {
    /// Memory available to PyTorch when the recording ran out of memory.
    recorded_bytes: Option<u64>,
    card: Option<ThisCard>,
}

/// Shows the choice of a card, which tells when growth fills it and what others used of it.
#[component]
fn CardPicker(props: &CardPickerProps) -> Html {
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
    let option = |(position, option): (usize, &crate::views::findings::model::CardLine)| {
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
