//! What is odd about a readable file.

use super::icon::{Icon, IconName};
use crate::view::notices::{is_folded, severity_word, summary};
use crate::worker::{FileSummary, Notice};
use std::rc::Rc;
use yew::prelude::*;

/// What the [`NoticeList`] shows.
#[derive(Clone, PartialEq, Properties)]
pub struct NoticeListProps {
    /// The file.
    pub summary: Rc<FileSummary>,
}

/// The notices, folded under one line where they are many.
#[component]
pub fn NoticeList(props: &NoticeListProps) -> Html {
    let notices = &props.summary.notices;
    let Some(worst) = notices.first() else { return Html::default() };
    let lines = html! { <ul>{ for notices.iter().map(line) }</ul> };
    if !is_folded(notices) {
        return html! { <section class="notices" aria-label="Notices">{ lines }</section> };
    }
    html! {
        <details class="notices folded">
            <summary class={classes!("notice", worst.severity.clone())}>
                <Icon name={icon(worst)} /><span>{ summary(notices) }</span>
                <span class="notice-first">{ &worst.message }</span>
            </summary>
            { lines }
        </details>
    }
}

fn line(notice: &Notice) -> Html {
    html! {
        <li key={notice.code.clone()} class={classes!("notice", notice.severity.clone())} data-code={notice.code.clone()}>
            <Icon name={icon(notice)} />
            <span><span class="visually-hidden">{ severity_word(notice) }{ ": " }</span>{ &notice.message }</span>
        </li>
    }
}

fn icon(notice: &Notice) -> IconName {
    match notice.severity.as_str() {
        "error" => IconName::Error,
        "warning" => IconName::Warning,
        _ => IconName::Info,
    }
}
