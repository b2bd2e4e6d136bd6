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

use self::evidence::Shown;
use self::finding_card::FindingCard;
use self::growth::{CardPicker, GrowthTable};
use self::model::{Lead, lead};
use self::trying::Tried;
use super::export::sheet_buttons::SheetButtons;
use super::head::figures_model::device_name;
use crate::ask::SheetOf;
use crate::platform::WorkerClient;
use crate::state::{ReadyFile, ThisCard};
use shared::report::Finding;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct FindingListProps {
    pub(super) client: WorkerClient,
    pub(super) file: ReadyFile,
    /// Name of the file.
    pub(super) name: AttrValue,
    /// Called with the evidence to show in the timeline.
    pub(super) on_show: Callback<Shown>,
    /// Called with settings to replay in What if.
    pub(super) on_try: Callback<Tried>,
    /// Called with the position of the device to show.
    pub(super) on_device: Callback<u32>,
    /// Called with the chosen card, or with `None` for no card.
    pub(super) on_card: Callback<Option<ThisCard>>,
}

/// Shows the findings of all devices as cards.
#[component]
pub(super) fn FindingList(props: &FindingListProps) -> Html {
    // Copied once per diagnosis, so that other changes do not render the cards of a hundred stacks again.
    let rows = use_memo(props.file.findings.clone(), |findings| {
        let rows = findings.iter().flat_map(|diagnosis| &diagnosis.findings);
        rows.map(|finding| Rc::new(finding.clone())).collect::<Vec<_>>()
    });
    let Some(diagnosis) = &props.file.findings else {
        return html! { <p class="panel-empty" role="status">{ "Analyzing steps, growth and waste…" }</p> };
    };
    let Lead { title, growth, looked_for } = lead(diagnosis);
    let summary = &props.file.summary;
    let shown = summary.devices.get(props.file.device as usize).map(|device| device.index);
    let run = diagnosis.runs.iter().find(|run| Some(run.device) == shown);
    let card = |(rank, finding): (usize, &Rc<Finding>)| {
        html! {
            <FindingCard key={rank} client={props.client.clone()} finding={finding.clone()}
                position={summary.position_of(finding.device)}
                device={name_of(&props.file, finding)} on_show={&props.on_show} on_try={&props.on_try}
                on_device={&props.on_device} />
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
                <CardPicker recorded_bytes={run.recorded_capacity_bytes} card={props.file.card}
                    on_card={props.on_card.clone()} />
            }
            if !rows.is_empty() {
                <SheetButtons client={props.client.clone()} device={props.file.device} file={props.name.clone()}
                    table="findings" of={|()| SheetOf::Findings} />
            }
        </section>
    }
}

/// Returns the name of a finding's device, if the file has several devices.
fn name_of(file: &ReadyFile, finding: &Finding) -> Option<AttrValue> {
    (file.summary.devices.len() > 1).then(|| device_name(finding.device).into())
}
