//! Panel tab for the file itself: format, counts and allocator settings.

use crate::ask::{FileSummary, SettingText};
use crate::hooks::{use_file, use_shown};
use shared::base::format;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct AboutProps {
    /// Control for keeping the file in the browser.
    pub(super) keep: Html,
}

/// Shows facts about the file, the events of the shown device, and the allocator's settings.
#[component]
pub(super) fn About(props: &AboutProps) -> Html {
    let (file, shown) = (use_file(), use_shown());
    let (device, summary) = (&shown.device, &shown.ready.summary);
    let FileSummary { format, unique_frames, unique_stacks, annotations, settings, .. } = &**summary;
    let of_file = [
        ("Format", format.clone()),
        ("Distinct stacks", format::count(*unique_stacks)),
        ("Distinct frames", format::count(*unique_frames)),
        ("Annotations", format::count(*annotations)),
    ];
    let end = [
        ("Reserved at the end", format::bytes(device.summary.reserved_bytes)),
        ("Active at the end", format::bytes(device.summary.active_bytes)),
        ("Allocated at the end", format::bytes(device.summary.allocated_bytes)),
    ];
    let actions = device.summary.actions.iter().map(|(action, count)| line(action.name(), &format::count(*count)));
    html! {
        <section class="about">
            { props.keep.clone() }
            <dl class="facts">{ for of_file.iter().chain(&end).map(|(name, value)| line(name, value)) }</dl>
            if !device.summary.actions.is_empty() {
                <h2>{ "Events" }</h2>
                <dl class="facts code">{ for actions }</dl>
            }
            if device.summary.events > 0 && !summary.is_part() {
                <p class="about-part">
                    <button type="button" class="button" onclick={move |_: MouseEvent| file.choose_part()}>
                        { "Open part…" }
                    </button>
                </p>
            }
            <h2>{ "Allocator settings" }</h2>
            if settings.is_empty() {
                <p class="panel-empty">{ "Not in this file: only torch 2.3 and later write them" }</p>
            } else {
                <dl class="facts code">{ for settings.iter().map(setting) }</dl>
            }
        </section>
    }
}

fn setting(setting: &SettingText) -> Html {
    let SettingText { name, value } = setting;
    line(name, if value.is_empty() { "not set" } else { value })
}

fn line(name: &str, value: &str) -> Html {
    html! { <div class="fact"><dt>{ name }</dt><dd class="numbers">{ value }</dd></div> }
}
