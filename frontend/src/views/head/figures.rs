//! Row of figures of the shown device, and a sentence about it: what ran, on what, and what went wrong or how much room
//! is left.

use super::model::{Emphasis, Figure, figures};
use crate::hooks::use_shown;
use crate::state::ReadyFile;
use crate::views::findings::finding_card::sentence;
use crate::views::findings::model::unbroken;
use shared::base::Severity;
use shared::report::{Finding, RunOfDevice};
use yew::prelude::*;

/// Shows figures with their names; the explanation of each is its tooltip.
#[component]
pub fn FiguresRow() -> Html {
    let shown = use_shown();
    html! { <dl class="figures" data-figures="">{ for figures(&shown.device).iter().map(|row| figure(row, "figure")) }</dl> }
}

/// Returns a figure with its name; `class` is the CSS class and the prefix of those of its parts.
pub fn figure(figure: &Figure, class: &'static str) -> Html {
    let emphasis = match figure.emphasis {
        Emphasis::Live => "live",
        Emphasis::Reserved => "reserved",
        Emphasis::Plain => "plain",
        Emphasis::Error => "error",
    };
    html! {
        <div class={classes!(class, emphasis)} title={(!figure.explanation.is_empty()).then_some(figure.explanation)}>
            <dt>{ figure.label }</dt>
            <dd class={classes!(format!("{class}-value"), "numbers")}>{ &figure.value }</dd>
            if !figure.note.is_empty() {
                <dd class={classes!(format!("{class}-note"), "numbers")}>{ &figure.note }</dd>
            }
        </div>
    }
}

/// Shows how the run went, with the first step of the remedy, and below it what ran.
///
/// Both lines are reserved while findings are awaited, so that nothing moves when they arrive.
#[component]
pub fn Headline() -> Html {
    let shown = use_shown();
    let run = run_of(&shown.ready);
    let has_problem = run.is_some_and(|run| run.has_problem);
    let line = |run: &RunOfDevice| {
        let remedy = has_problem.then(|| remedy(&shown.ready)).flatten();
        html! {
            <>
                <strong>{ unbroken(&run.outcome()) }</strong>
                if let Some(remedy) = remedy { <span class="headline-remedy" title={remedy.replace('`', "")}>{ sentence(remedy) }</span> }
                <span class="headline-subject">{ &run.subject }</span>
            </>
        }
    };
    html! {
        <p class={classes!("headline", has_problem.then_some("problem"))} role="status" data-headline="">{ for run.map(line) }</p>
    }
}

/// Returns the first thing to do about the worst problem of the shown device.
fn remedy(file: &ReadyFile) -> Option<&str> {
    let is_worst = |finding: &&Finding| {
        let fills = finding.severity == Severity::Warning && finding.at_peak.rest_bytes > 0;
        finding.device == file.device_index() && (fills || finding.severity == Severity::Error)
    };
    let worst = file.findings.as_ref()?.findings.iter().find(is_worst)?;
    worst.steps.first().map(|step| step.text.as_str())
}

/// Returns the run of the shown device, once the findings have arrived; devices without memory have none.
fn run_of(file: &ReadyFile) -> Option<&RunOfDevice> {
    file.findings.as_ref()?.runs.iter().find(|run| run.device == file.device_index())
}
