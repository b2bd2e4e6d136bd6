//! Panel tab for the findings, the most important ones first.

pub mod card;
pub mod evidence;
pub mod finding_card;
mod growth;
pub mod growth_model;
pub mod model;
mod sentence;
pub mod steps;
pub mod trying;

use self::finding_card::FindingCard;
use self::growth::{CardPicker, GrowthTable};
use self::model::{Lead, lead};
use self::trying::use_try;
use super::export::sheet_buttons::SheetButtons;
use super::head::figures_model::device_name;
use crate::ask::SheetOf;
use crate::hooks::{use_file, use_shown};
use crate::state::ReadyFile;
use shared::report::Finding;
use std::rc::Rc;
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
                    <GrowthTable classes={growth.classes.clone()} />
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
