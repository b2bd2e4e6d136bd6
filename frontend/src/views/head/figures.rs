//! Row of figures of the shown device, a sentence about it (what ran, on what, and what went wrong or how much room is
//! left), notices about oddities in a readable file, and where the file came from.

use super::model::{Emphasis, Figure, figures, is_folded, notices_of, summary};
use crate::ask::Notice;
use crate::components::{IconName, icon, square_button};
use crate::hooks::{FileHandle, use_shown};
use crate::state::{FileAction, LinkFacts, Origin, ReadyFile};
use crate::views::findings::model::{severity_word, unbroken};
use crate::views::findings::{sentence, severity_icon};
use shared::base::Severity;
use shared::report::{Finding, RunOfDevice};
use yew::prelude::*;

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
    // Devices without memory have no run.
    let findings = shown.ready.findings.as_ref();
    let run = findings.and_then(|all| all.runs.iter().find(|run| run.device == shown.ready.device_index()));
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

#[component]
pub fn NoticeList() -> Html {
    let shown = use_shown();
    let (ready, device) = (&shown.ready, shown.device.summary.device);
    // Notices about other devices are left out.
    let notices = &notices_of(&ready.summary.notices, device);
    let Some(worst) = notices.first() else { return Html::default() };
    let lines = html! { <ul>{ for notices.iter().map(line) }</ul> };
    if !is_folded(notices) {
        return html! { <section class="notices" aria-label="Notices" data-notices="">{ lines }</section> };
    }
    html! {
        <details class="notices folded" data-notices="">
            <summary class={classes!("notice", worst.severity.clone())}>
                { icon(severity_icon(severity_of(worst))) }<span>{ summary(notices) }</span>
                <span class="notice-first">{ &worst.message }</span>
            </summary>
            { lines }
        </details>
    }
}

fn line(notice: &Notice) -> Html {
    let word = severity_word(severity_of(notice));
    html! {
        <li key={notice.code.clone()} class={classes!("notice", notice.severity.clone())} data-code={notice.code.clone()}>
            { icon(severity_icon(severity_of(notice))) }
            <span><span class="visually-hidden">{ word }{ ": " }</span>{ &notice.message }</span>
        </li>
    }
}

fn severity_of(notice: &Notice) -> Severity {
    Severity::of_name(&notice.severity).unwrap_or_default()
}

pub fn origin_bar(file: &FileHandle, origin: &Origin, notice: Option<&str>) -> Html {
    let on_dismiss = file.clicked(FileAction::DismissNotice);
    html! {
        <>
            if let Origin::Link(facts) = origin { { shared_copy(facts) } }
            if let Some(notice) = notice {
                <p class="origin notice warning" role="status" data-view-notice="">
                    { icon(IconName::Warning) }<span>{ notice }</span>
                    { square_button(IconName::Close, "Dismiss", "", Some(on_dismiss)) }
                </p>
            }
        </>
    }
}

fn shared_copy(facts: &LinkFacts) -> Html {
    let LinkFacts { title, created, expires, cuts } = facts;
    let ends = expires.as_ref().map_or_else(|| "never expires".to_owned(), |end| format!("expires {end}"));
    html! {
        <p class="origin" data-shared="">
            { icon(IconName::Share) }
            <span>
                <strong>{ title }</strong>
                { format!(" · Shared copy from {created}, {ends}") }
                if let Some(cuts) = cuts { <span class="origin-cuts">{ format!(" · {cuts}") }</span> }
            </span>
        </p>
    }
}
