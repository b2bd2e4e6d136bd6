//! Panel tab for the findings, the most important ones first, with the memory that stays after steps. A card has the
//! problem, the advice, and the evidence with its allocations or events one by one.

pub mod model;

use self::model::{
    GrowthLine, Lead, card_options, conf_of, confidence, growth_line, lead, moments, prose, severity_word, unbroken,
};
use super::export::SheetButtons;
use super::head::model::device_name;
use crate::ask::stack::{label, stack_mark};
use crate::ask::{
    AllocationKey, Ask, ColorBy, FindAllocation, GetFindings, GetRecordedSetup, GroupBy, GroupMark, Hit, Kind,
    NameMark, RecordedSetup, Report, SheetOf, WhatIfSetup,
};
use crate::components::{
    CopyButton, IconName, StackRow, bound, by_position, icon, options, passing, square_button, waiting,
};
use crate::hooks::{FileHandle, ShownFile, use_file, use_shown};
use crate::platform::{bring_into_view, now_ms};
use crate::state::{Choice, DockTab, FileAction, RowsChoice, Selecting, ThisCard, TimelineCommand};
use shared::analysis::{AdviceStep, ClassTotal, StepKind};
use shared::base::{Severity, format};
use shared::report::{Diagnosis, Finding, FindingPart, Target};
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
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

#[derive(Clone, PartialEq, Properties)]
struct FindingCardProps {
    finding: Rc<Finding>,
    position: u32,
    /// Name of the finding's device; `None` if the file has only one.
    device: Option<AttrValue>,
    on_try: Callback<Tried>,
}

#[component]
fn FindingCard(props: &FindingCardProps) -> Html {
    let FindingCardProps { finding, position, device, on_try } = props;
    let (file, position) = (use_file(), *position);
    let evidence = use_evidence(&file, finding, position);
    let onclick = file.clicked(FileAction::ChooseDevice(position));
    let device = device.as_ref().map_or_else(Html::default, |device| {
        html! { <button type="button" class="finding-device" title="Show this device" {onclick}>{ device }</button> }
    });
    let doing = Doing {
        on_target: Callback::from(move |target: Target| {
            show_part(&file, position, None, (target.first, target.last), kind_of(&target));
        }),
        on_try: on_try.reform(move |conf| (position, conf)),
    };
    let events = if finding.evidence.events.is_empty() { Html::default() } else { show(evidence, finding, &doing) };
    item(finding, device, events, Some(&doing))
}

/// Returns the card of a finding, with the control of its device, that of its events and what its buttons do.
///
/// A finding about a log has nothing to do in a timeline; how it was found is unfolded.
pub fn item(finding: &Finding, device: Html, events: Html, doing: Option<&Doing>) -> Html {
    let is_of_log = doing.is_none();
    let place = finding.line.as_ref().map(|line| line.place()).filter(|place| !finding.title.contains(place.as_str()));
    html! {
        <li class={classes!("finding", finding.severity.name())} data-code={finding.code.name()}
            data-cause={(finding.at_peak.rest_bytes > 0).then_some("")}>
            <p class="finding-head">
                { icon(severity_icon(finding.severity)) }
                <span class="finding-severity">{ severity_word(finding.severity) }</span>
                { device }
                if let bytes @ 1.. = finding.at_peak.bytes.max(finding.bytes) {
                    <span class="finding-bytes numbers">{ format::bytes(bytes) }</span>
                }
            </p>
            <h2 class="finding-title">{ sentence(&finding.title) }</h2>
            if let Some(place) = place { <p class="finding-line"><code>{ place }</code></p> }
            { parts(finding, doing) }
            { events }
            { steps(finding, doing) }
            <details open={is_of_log}>
                <summary>{ "Why" }</summary>
                if !finding.why.is_empty() { <p>{ sentence(&finding.why) }</p> }
                <p>{ sentence(&finding.evidence.shows) }</p>
                if is_of_log {
                    <p>{ format!("Confidence: {}.", finding.confidence.name()) }</p>
                } else {
                    <p>{ confidence(finding.confidence) }</p>
                }
            </details>
            if !finding.evidence.stacks.is_empty() {
                <details>
                    <summary>{ format::counted(finding.evidence.stacks.len() as u64, "stack") }</summary>
                    <ol class="finding-stacks">{ for finding.evidence.stacks.iter().map(|frames| html! {
                        <StackRow label={label(frames)} frames={Rc::new(frames.clone())} />
                    }) }</ol>
                </details>
            }
        </li>
    }
}

/// Returns the button that shows all of it and, once an event is shown, buttons for the previous and next one.
///
/// If the allocations have a category, a stack or a line in common, they are shown; otherwise the first event is.
fn show((index, on_event): (Option<usize>, Callback<usize>), finding: &Finding, doing: &Doing) -> Html {
    let count = finding.evidence.events.len();
    let common = finding.target.clone().filter(|target| kind_of(target).is_some());
    let event = |index: usize| passing(&on_event, index);
    let step = |target: Option<usize>, name: IconName, label: &'static str| {
        square_button(name, label, label, target.map(event))
    };
    let around = index.filter(|_| count > 1);
    let onclick = match common {
        Some(target) => passing(&doing.on_target, target),
        None => event(index.unwrap_or(0)),
    };
    html! {
        <div class="finding-show">
            <button type="button" class="button" {onclick}>{ icon(IconName::Search) }{ "Show in timeline" }</button>
            if let Some(index) = around {
                { step(index.checked_sub(1), IconName::Previous, "Previous event") }
                <span class="numbers" role="status">{ format!("{} of {count}", index + 1) }</span>
                { step(Some(index + 1).filter(|&next| next < count), IconName::Next, "Next event") }
            }
        </div>
    }
}

pub fn severity_icon(severity: Severity) -> IconName {
    match severity {
        Severity::Info => IconName::Info,
        Severity::Warning => IconName::Warning,
        Severity::Error => IconName::Error,
    }
}

fn kind_of(target: &Target) -> Option<Kind> {
    let Target { category, stack, line, pattern, .. } = target;
    let of_line = || {
        let line = line.as_ref()?;
        let mark = NameMark::of([line.title.as_str(), &line.detail]);
        Some(Kind::Group(GroupMark { by: GroupBy::Frame, mark }))
    };
    let of_stack = || (!stack.is_empty()).then(|| Kind::Stack(stack_mark(stack)));
    let of_pattern = || pattern.clone().map(|text| Kind::Text { text, is_expression: true });
    category.map(Kind::Category).or_else(of_stack).or_else(of_line).or_else(of_pattern)
}

/// Shows a part of the timeline of a device, by its position, between two moments, and the allocations of a category
/// also in the table.
///
/// `hit` is pinned, and the allocations of `kind` are set apart from all others.
fn show_part(file: &FileHandle, device: u32, hit: Option<Hit>, (first, last): (u32, u32), kind: Option<Kind>) {
    file.act(FileAction::PinFound { device, hit });
    if let Some(Kind::Category(category)) = &kind {
        file.act(FileAction::ChooseColor(ColorBy::Category));
        file.choose(Choice::Selecting(Selecting::of_category(*category)));
        file.choose(Choice::Rows(RowsChoice { by: Some(GroupBy::Stack), ..RowsChoice::default() }));
        file.act(FileAction::ChooseDock(Some(DockTab::Allocations)));
    }
    file.act(FileAction::SelectKind(kind));
    file.command(TimelineCommand::Between { first, last });
    // On a phone the timeline is a screen away from the panel.
    bring_into_view("[data-timeline]");
}

/// Shows the events of a finding one by one, with all of them in view; `device` is a position.
///
/// Returns the index of the event that was shown last, and a callback that shows another.
#[hook]
fn use_evidence(file: &FileHandle, finding: &Rc<Finding>, device: u32) -> (Option<usize>, Callback<usize>) {
    let index = use_state_eq(|| None);
    let on_event =
        bound((file.clone(), finding.clone(), index.setter()), move |(file, finding, index), next: usize| {
            let (Some(&event), Some(between)) = (finding.evidence.events.get(next), moments(finding)) else { return };
            index.set(Some(next));
            let file = file.clone();
            spawn_local(async move {
                // The worker refuses an event without an allocation, such as an out-of-memory error; then nothing is
                // pinned.
                let hit = file
                    .client
                    .ask(FindAllocation { device, key: AllocationKey::Event(event), moment: event.saturating_add(1) })
                    .await
                    .ok();
                show_part(&file, device, hit, between, None);
            });
        });
    (*index, on_event)
}

/// What the buttons of a finding about a snapshot do; those about logs have none of this.
pub struct Doing {
    pub on_target: Callback<Target>,
    /// Called with settings to replay in What if.
    pub on_try: Callback<String>,
}

fn parts(finding: &Finding, doing: Option<&Doing>) -> Html {
    if finding.parts.is_empty() {
        return Html::default();
    }
    let item = |part: &FindingPart| {
        html! {
            <li data-part="">
                <span class="numbers">{ unbroken(&part.text()) }</span>
                { for doing.map(|doing| show_button(doing, &part.target, &part.title)) }
            </li>
        }
    };
    html! { <ul class="finding-parts" aria-label="What matters">{ for finding.parts.iter().map(item) }</ul> }
}

fn steps(finding: &Finding, doing: Option<&Doing>) -> Html {
    if finding.steps.is_empty() {
        return Html::default();
    }
    let item = |step: &AdviceStep| {
        html! { <li data-step={step.kind.name()}>{ sentence(&step.text) }{ buttons(step, finding, doing) }</li> }
    };
    html! { <ol class="finding-steps" aria-label="What to do">{ for finding.steps.iter().map(item) }</ol> }
}

fn buttons(step: &AdviceStep, finding: &Finding, doing: Option<&Doing>) -> Html {
    let copy = |label: &'static str| html! { <CopyButton text={step.value.clone()} {label} /> };
    let buttons = match (step.kind, doing) {
        (StepKind::Read, _) => return Html::default(),
        (StepKind::Copy, _) => copy("Copy"),
        (StepKind::Record, _) => copy("Record it: copy the code"),
        (StepKind::Try, doing) => {
            let try_it = |doing: &Doing| {
                let onclick = passing(&doing.on_try, conf_of(&step.value).to_owned());
                html! { <button type="button" class="button" {onclick}>{ "Try in What if" }</button> }
            };
            html! { <>{ for doing.map(try_it) }if !step.value.is_empty() { { copy("Copy") } }</> }
        }
        (StepKind::Show, doing) => {
            let target = doing.zip(finding.target.as_ref());
            target.map(|(doing, target)| show_button(doing, target, "what this finding is about")).unwrap_or_default()
        }
        (StepKind::Cause, _) => {
            let onclick = |_: MouseEvent| bring_into_view("[data-cause]");
            html! { <button type="button" class="button quiet" {onclick}>{ "What grows" }</button> }
        }
    };
    html! { <span class="finding-buttons">{ buttons }</span> }
}

fn show_button(doing: &Doing, target: &Target, what: &str) -> Html {
    let onclick = passing(&doing.on_target, target.clone());
    html! {
        <button type="button" class="button quiet" aria-label={format!("Show {what}")} {onclick}>
            { icon(IconName::Search) }{ "Show" }
        </button>
    }
}

/// Shows a sentence with its code, which is between backticks.
pub fn sentence(text: &str) -> Html {
    let part = |(is_code, part): (bool, &str)| match is_code {
        true => html! { <code>{ part }</code> },
        false => unbroken(part).into(),
    };
    html! { <>{ for prose(text).map(part) }</> }
}

#[hook]
pub fn use_card(file: &FileHandle, card: Option<ThisCard>) {
    let asked = use_mut_ref(|| None::<ThisCard>);
    let file = file.clone();
    use_effect_with((file.client.clone(), card), move |(_, card)| {
        // The findings without a known card have arrived with the file.
        let is_other = asked.replace(*card).is_some() || card.is_some();
        let question = GetFindings { capacity_bytes: card.map(|card| card.capacity_bytes) };
        hear_findings(&file, is_other.then_some(question), || ())
    });
}

/// Asks for other findings, and dispatches them like a report of the worker, after `then`.
///
/// Returns what drops the answer, once another question takes its place.
pub fn hear_findings<Q: Ask<Answer = Diagnosis> + 'static, F: FnOnce() + 'static>(
    file: &FileHandle,
    question: Option<Q>,
    then: F,
) -> impl FnOnce() + use<Q, F> {
    let is_current = Rc::new(Cell::new(true));
    if let Some(question) = question {
        let (file, waiting) = (file.clone(), is_current.clone());
        spawn_local(async move {
            // An error means that the file was closed, or another question was asked.
            if let Ok(findings) = file.client.ask(question).await
                && waiting.get()
            {
                then();
                let report = Box::new(Report::Findings(findings));
                file.act(FileAction::Hear { id: file.id, report, now_ms: now_ms() });
            }
        });
    }
    move || is_current.set(false)
}

/// Position of a device, and settings to replay in the syntax of `PYTORCH_CUDA_ALLOC_CONF`; empty ones keep those of
/// What if.
pub type Tried = (u32, String);

/// Returns a callback that opens What if with settings, on the GPU that it has.
#[hook]
pub fn use_try(file: &FileHandle, shown: &ShownFile) -> Callback<Tried> {
    let deps = (file.clone(), shown.device.device, shown.ready.choices.what_if.clone());
    use_callback(deps, |(device, conf): Tried, (file, shown_device, what_if)| {
        let (file, what_if) = (file.clone(), what_if.clone());
        let is_shown = device == *shown_device;
        if !is_shown {
            file.act(FileAction::ChooseDevice(device));
        }
        spawn_local(async move {
            if !conf.is_empty() {
                let known = what_if.filter(|_| is_shown).map(|setup| WhatIfSetup::clone(&setup));
                let setup = match known {
                    Some(setup) => setup,
                    // A refusal is shown by What if itself.
                    None => match file.client.ask(GetRecordedSetup { device }).await {
                        Ok(RecordedSetup { capacity_bytes, .. }) => {
                            WhatIfSetup { capacity_bytes, ..Default::default() }
                        }
                        Err(_) => WhatIfSetup::default(),
                    },
                };
                file.choose(Choice::WhatIf(WhatIfSetup { conf, ..setup }));
            }
            file.act(FileAction::ChooseDock(Some(DockTab::WhatIf)));
        });
    })
}
