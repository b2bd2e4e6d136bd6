//! Notices about oddities in a readable file, and where the file came from.

use super::model::{is_folded, notices_of, severity_word, summary};
use crate::ask::Notice;
use crate::components::icon::{IconName, icon};
use crate::hooks::{use_file, use_shown};
use crate::state::{FileAction, LinkFacts, Origin};
use std::rc::Rc;
use yew::prelude::*;

/// Shows the notices, folded under one line if there are many.
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
                { icon(severity_icon(worst)) }<span>{ summary(notices) }</span>
                <span class="notice-first">{ &worst.message }</span>
            </summary>
            { lines }
        </details>
    }
}

fn line(notice: &Notice) -> Html {
    html! {
        <li key={notice.code.clone()} class={classes!("notice", notice.severity.clone())} data-code={notice.code.clone()}>
            { icon(severity_icon(notice)) }
            <span><span class="visually-hidden">{ severity_word(notice) }{ ": " }</span>{ &notice.message }</span>
        </li>
    }
}

fn severity_icon(notice: &Notice) -> IconName {
    match notice.severity.as_str() {
        "error" => IconName::Error,
        "warning" => IconName::Warning,
        _ => IconName::Info,
    }
}

#[derive(Clone, PartialEq, Properties)]
pub struct OriginBarProps {
    pub origin: Origin,
    /// Message about the file's view.
    pub notice: Option<Rc<str>>,
}

/// Shows a line about a shared copy, and one about a view that could not be restored.
#[component]
pub fn OriginBar(props: &OriginBarProps) -> Html {
    let on_dismiss = use_file().acting(|_: MouseEvent| FileAction::DismissNotice);
    html! {
        <>
            if let Origin::Link(facts) = &props.origin { { shared_copy(facts) } }
            if let Some(notice) = &props.notice {
                <p class="origin notice warning" role="status" data-view-notice="">
                    { icon(IconName::Warning) }<span>{ &**notice }</span>
                    <button type="button" class="button quiet square" onclick={on_dismiss} aria-label="Dismiss">
                        { icon(IconName::Close) }
                    </button>
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
