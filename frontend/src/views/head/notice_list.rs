//! List of notices about oddities in a readable file.

use super::figures_model::device_name;
use super::notices_model::{is_folded, notices_of, severity_word, summary};
use crate::ask::Notice;
use crate::components::icon::{Icon, IconName};
use crate::hooks::use_shown;
use yew::prelude::*;

/// Shows the notices, folded under one line if there are many.
///
/// That line is there from the start, so that nothing moves when notices arrive.
#[component]
pub fn NoticeList() -> Html {
    let shown = use_shown();
    let (ready, device) = (&shown.ready, shown.device.summary.device);
    // Notices about other devices are left out.
    let notices = &notices_of(&ready.summary.notices, device);
    let Some(worst) = notices.first() else {
        let text = match (ready.are_notices_known, ready.summary.devices.len()) {
            (false, _) => "Checking the recording…".to_owned(),
            (true, 0 | 1) => "No notices about this recording".to_owned(),
            (true, _) => format!("No notices about the recording of {}", device_name(device)),
        };
        return html! { <p class="notices notice quiet" data-notices=""><Icon name={IconName::Info} /><span>{ text }</span></p> };
    };
    let lines = html! { <ul>{ for notices.iter().map(line) }</ul> };
    if !is_folded(notices) {
        return html! { <section class="notices" aria-label="Notices" data-notices="">{ lines }</section> };
    }
    html! {
        <details class="notices folded" data-notices="">
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
