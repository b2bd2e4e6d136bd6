//! Lists what matters of a finding, and what to do about it, each with its buttons.

use super::model::{conf_of, unbroken};
use super::sentence::sentence;
use crate::components::buttons::CopyButton;
use crate::components::icon::{Icon, IconName};
use shared::analysis::{AdviceStep, StepKind};
use shared::report::{Finding, FindingPart, Target};
use yew::prelude::*;

/// What the buttons of a finding about a snapshot do; those about logs have none of this.
#[derive(Clone, PartialEq)]
pub struct Doing {
    /// Called with what the timeline is to show.
    pub on_target: Callback<Target>,
    /// Called with settings to replay in What if.
    pub on_try: Callback<String>,
}

/// Lists the allocations that a finding is about.
pub(super) fn parts(finding: &Finding, doing: Option<&Doing>) -> Html {
    if finding.parts.is_empty() {
        return Html::default();
    }
    let item = |part: &FindingPart| {
        html! {
            <li data-part="">
                <span class="numbers">{ unbroken(&part.text()) }</span>
                { for doing.map(|doing| show(doing, &part.target, &part.title)) }
            </li>
        }
    };
    html! { <ul class="finding-parts" aria-label="What matters">{ for finding.parts.iter().map(item) }</ul> }
}

/// Lists the steps, the most useful first.
pub(super) fn steps(finding: &Finding, doing: Option<&Doing>) -> Html {
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
        (StepKind::Try, doing) => html! {
            <>
                { for doing.map(|doing| try_it(doing, step)) }
                if !step.value.is_empty() { { copy("Copy") } }
            </>
        },
        (StepKind::Show, doing) => {
            let target = doing.zip(finding.target.as_ref());
            target.map(|(doing, target)| show(doing, target, "what this finding is about")).unwrap_or_default()
        }
    };
    html! { <span class="finding-buttons">{ buttons }</span> }
}

fn try_it(doing: &Doing, step: &AdviceStep) -> Html {
    let conf = conf_of(&step.value).to_owned();
    let onclick = doing.on_try.reform(move |_: MouseEvent| conf.clone());
    html! { <button type="button" class="button" {onclick}>{ "Try in What if" }</button> }
}

fn show(doing: &Doing, target: &Target, what: &str) -> Html {
    let target = target.clone();
    let onclick = doing.on_target.reform(move |_: MouseEvent| target.clone());
    html! {
        <button type="button" class="button quiet" aria-label={format!("Show {what}")} {onclick}>
            <Icon name={IconName::Search} />{ "Show" }
        </button>
    }
}
