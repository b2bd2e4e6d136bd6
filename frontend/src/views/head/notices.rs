//! Notices about oddities in a readable file, and where the file came from.

use super::model::{is_folded, notices_of, summary};
use crate::ask::Notice;
use crate::components::{IconName, icon, square_button};
use crate::hooks::{FileHandle, use_shown};
use crate::state::{FileAction, LinkFacts, Origin};
use crate::views::findings::finding_card::severity_icon;
use crate::views::findings::model::severity_word;
use shared::base::Severity;
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

/// Shows a line about a shared copy, and one about a view that could not be restored.
pub fn origin_bar(file: &FileHandle, origin: &Origin, notice: Option<&str>) -> Html {
    let on_dismiss = file.acting(|_: MouseEvent| FileAction::DismissNotice);
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
