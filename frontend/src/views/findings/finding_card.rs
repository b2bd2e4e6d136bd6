//! Card for one finding: the problem, the advice and the evidence.

use super::evidence::{Evidence, kind_of, show_part, shown, use_evidence};
use super::model::{confidence, place, severity_word};
use super::sentence::sentence;
use super::steps::{Doing, parts, steps};
use super::trying::Tried;
use crate::ask::stack::label;
use crate::components::icon::{Icon, IconName};
use crate::components::stack_view::StackRow;
use crate::hooks::use_file;
use crate::state::FileAction;
use shared::base::{Severity, format};
use shared::report::{Finding, Frame};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct FindingCardProps {
    pub(super) finding: Rc<Finding>,
    /// Position of the finding's device.
    pub(super) position: u32,
    /// Name of the finding's device; `None` if the file has only one.
    pub(super) device: Option<AttrValue>,
    /// Called with settings to replay in What if.
    pub(super) on_try: Callback<Tried>,
}

/// Shows a finding with its evidence, which one click shows in the timeline.
#[component]
pub(super) fn FindingCard(props: &FindingCardProps) -> Html {
    let FindingCardProps { finding, position, device, on_try } = props;
    let (file, position) = (use_file(), *position);
    let evidence = use_evidence(&file, finding, position);
    let onclick = file.acting(move |_: MouseEvent| FileAction::ChooseDevice(position));
    let device = device.as_ref().map_or_else(Html::default, |device| {
        html! { <button type="button" class="finding-device" title="Show this device" {onclick}>{ device }</button> }
    });
    let doing = Doing {
        on_target: Callback::from(move |target| show_part(&file, shown(position, &target))),
        on_try: on_try.reform(move |conf| Tried { device: position, conf }),
    };
    let events = if evidence.count > 0 { show(&evidence, finding, &doing) } else { Html::default() };
    item(finding, device, events, Some(&doing))
}

/// Returns the card of a finding, with the control of its device, that of its events and what its buttons do.
///
/// A finding about a log has nothing to do in a timeline; how it was found is unfolded.
pub fn item(finding: &Finding, device: Html, events: Html, doing: Option<&Doing>) -> Html {
    let is_of_log = doing.is_none();
    let place = finding.line.as_ref().map(|line| line.place()).filter(|place| !finding.title.contains(place.as_str()));
    html! {
        <li class={classes!("finding", finding.severity.name())} data-code={finding.code.name()}>
            <p class="finding-head">
                <Icon name={icon(finding.severity)} />
                <span class="finding-severity">{ severity_word(finding.severity) }</span>
                { device }
                if finding.bytes > 0 {
                    <span class="finding-bytes numbers">{ format::bytes(finding.bytes) }</span>
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
                    <ol class="finding-stacks">{ for finding.evidence.stacks.iter().map(|frames| stack(frames)) }</ol>
                </details>
            }
        </li>
    }
}

/// Returns the button that shows all of it and, once an event is shown, buttons for the previous and next one.
///
/// If the allocations have a category, a stack or a line in common, they are shown; otherwise the first event is.
fn show(evidence: &Evidence, finding: &Finding, doing: &Doing) -> Html {
    let Evidence { index, count, on_event } = evidence;
    let common = finding.target.clone().filter(|target| kind_of(target).is_some());
    let step = |target: Option<usize>, name: IconName, label: &'static str| {
        let onclick = on_event.reform(move |_: MouseEvent| target.unwrap_or(0));
        html! {
            <button type="button" class="button quiet square" aria-label={label} title={label}
                disabled={target.is_none()} {onclick}><Icon {name} /></button>
        }
    };
    let around = index.filter(|_| *count > 1);
    let onclick = match common {
        Some(target) => doing.on_target.reform(move |_: MouseEvent| target.clone()),
        None => {
            let first = index.unwrap_or(0);
            on_event.reform(move |_: MouseEvent| first)
        }
    };
    html! {
        <div class="finding-show">
            <button type="button" class="button" {onclick}><Icon name={IconName::Search} />{ "Show in timeline" }</button>
            if let Some(index) = around {
                { step(index.checked_sub(1), IconName::Previous, "Previous event") }
                <span class="numbers" role="status">{ place(index, *count) }</span>
                { step(Some(index + 1).filter(|next| next < count), IconName::Next, "Next event") }
            }
        </div>
    }
}

fn stack(frames: &[Frame]) -> Html {
    html! { <StackRow label={label(frames)} frames={Rc::new(frames.to_vec())} /> }
}

fn icon(severity: Severity) -> IconName {
    match severity {
        Severity::Info => IconName::Info,
        Severity::Warning => IconName::Warning,
        Severity::Error => IconName::Error,
    }
}
