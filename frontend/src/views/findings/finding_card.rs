//! Card for one finding: the problem, the advice and the evidence.

use super::evidence::{Evidence, Shown, use_evidence};
use super::model::{Prose, confidence, place, prose, severity_word, unbroken};
use crate::ask::stack::label;
use crate::components::icon::{Icon, IconName};
use crate::components::stack_row::StackRow;
use crate::platform::WorkerClient;
use shared::base::{Severity, format};
use shared::report::{Finding, Frame};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct FindingCardProps {
    pub(super) client: WorkerClient,
    pub(super) finding: Rc<Finding>,
    /// Position of the finding's device.
    pub(super) position: u32,
    /// Name of the finding's device; `None` if the file has only one.
    pub(super) device: Option<AttrValue>,
    /// Called with the evidence to show in the timeline.
    pub(super) on_show: Callback<Shown>,
    /// Called with the position of the finding's device, when that is to be shown.
    pub(super) on_device: Callback<u32>,
}

/// Shows a finding with its evidence, which one click shows in the timeline.
#[component]
pub(super) fn FindingCard(props: &FindingCardProps) -> Html {
    let FindingCardProps { client, finding, position, device, on_show, on_device } = props;
    let evidence = use_evidence(client, finding, *position, on_show);
    let position = *position;
    let onclick = on_device.reform(move |_: MouseEvent| position);
    let device = device.as_ref().map_or_else(Html::default, |device| {
        html! { <button type="button" class="finding-device" title="Show this device" {onclick}>{ device }</button> }
    });
    let actions = if evidence.count > 0 { steps(&evidence) } else { Html::default() };
    item(finding, device, actions, false)
}

/// Returns the card of a finding, with the control of its device and those for its evidence.
///
/// `is_of_log` unfolds how it was found, and leaves out what would confirm a trace.
pub fn item(finding: &Finding, device: Html, actions: Html, is_of_log: bool) -> Html {
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
            <p>{ sentence(&finding.advice) }</p>
            { actions }
            <details open={is_of_log}>
                <summary>{ "How this was found" }</summary>
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

/// Returns the "Show" button and, once evidence is shown, buttons for the previous and next event.
fn steps(evidence: &Evidence) -> Html {
    let Evidence { index, count, show } = evidence;
    let step = |target: Option<usize>, name: IconName, label: &'static str| {
        let onclick = show.reform(move |_: MouseEvent| target.unwrap_or(0));
        html! {
            <button type="button" class="button quiet square" aria-label={label} title={label}
                disabled={target.is_none()} {onclick}><Icon {name} /></button>
        }
    };
    let around = index.filter(|_| *count > 1);
    let onclick = {
        let first = index.unwrap_or(0);
        show.reform(move |_: MouseEvent| first)
    };
    html! {
        <div class="finding-show">
            <button type="button" class="button" {onclick}><Icon name={IconName::Search} />{ "Show" }</button>
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

fn sentence(text: &str) -> Html {
    let part = |part| match part {
        Prose::Words(words) => html! { { unbroken(words) } },
        Prose::Code(code) => html! { <code>{ code }</code> },
    };
    html! { <>{ for prose(text).map(part) }</> }
}

fn icon(severity: Severity) -> IconName {
    match severity {
        Severity::Info => IconName::Info,
        Severity::Warning => IconName::Warning,
        Severity::Error => IconName::Error,
    }
}
