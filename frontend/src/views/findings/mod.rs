//! Panel tab for the findings, the most important ones first, with the memory that stays after steps.

pub mod finding_card;
pub mod model;

use self::finding_card::{FindingCard, use_try};
use self::model::{GrowthLine, Lead, card_options, growth_line, lead};
use super::export::picture::SheetButtons;
use super::head::model::device_name;
use crate::ask::SheetOf;
use crate::components::{by_position, options, waiting};
use crate::hooks::{FileHandle, use_file, use_shown};
use crate::state::{FileAction, ThisCard};
use shared::analysis::ClassTotal;
use shared::report::Finding;
use std::rc::Rc;
use yew::prelude::*;

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
    let Some(diagnosis) = &file.findings else { return waiting("Analyzing steps, growth and waste…") };
    let Lead { title, growth, looked_for } = lead(diagnosis);
    let summary = &file.summary;
    let run = diagnosis.runs.iter().find(|run| run.device == file.device_index());
    let card = |(rank, finding): (usize, &Rc<Finding>)| {
        // The name of the device tells something only if there are several.
        let device = (summary.devices.len() > 1).then(|| AttrValue::from(device_name(finding.device)));
        html! {
            <FindingCard key={rank} finding={finding.clone()} position={summary.position_of(finding.device)}
                {device} on_try={&on_try} />
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
                { card_picker(&opened, run.recorded_capacity_bytes, file.card) }
            }
            if !rows.is_empty() {
                <SheetButtons table="findings" of={|()| SheetOf::Findings} />
            }
        </section>
    }
}

/// Shows a row per reason why memory stays; renders nothing without steps.
fn growth_table(classes: &[ClassTotal]) -> Html {
    if classes.is_empty() {
        return Html::default();
    }
    let row = |GrowthLine { name, hint, end, per_step, when, is_leak }| {
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
            <thead><tr>{ for ["Kind", "At the end", "Per step", "In steps"].map(|name| html! {
                <th scope="col">{ name }</th>
            }) }</tr></thead>
            <tbody>{ for classes.iter().map(growth_line).map(row) }</tbody>
        </table>
    }
}

/// Shows the choice of a card, which tells when growth fills it and what others used of it.
///
/// `recorded_bytes` is the memory that PyTorch had when the recording ran out of it.
fn card_picker(file: &FileHandle, recorded_bytes: Option<u64>, card: Option<ThisCard>) -> Html {
    let (labels, cards): (Vec<AttrValue>, Vec<_>) =
        card_options(recorded_bytes, card).into_iter().map(|(label, card)| (label.into(), card)).unzip();
    let chosen = cards.iter().position(|one| *one == card).unwrap_or(0);
    let on_choose = file.acting(move |position: usize| FileAction::ChooseCard(cards[position]));
    html! {
        <div class="findings-card">
            <label for="findings-card">{ "GPU memory" }</label>
            <select id="findings-card" onchange={by_position(labels.len(), &on_choose)}
                title="Shows when growth fills the GPU, what was in use outside PyTorch, and a line in the timeline">
                { options(&labels, chosen) }
            </select>
        </div>
    }
}
