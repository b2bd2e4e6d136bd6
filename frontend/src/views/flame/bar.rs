//! Toolbar above a flame graph.

use crate::components::icon::{Icon, IconName};
use crate::state::{Controls, Rootward};
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct BarProps {
    pub(super) controls: Controls,
    pub(super) on_controls: Callback<Controls>,
    /// Search text.
    pub(super) search: AttrValue,
    pub(super) on_search: Callback<AttrValue>,
    /// Summary of what the search finds.
    pub(super) found: Option<AttrValue>,
}

/// Shows the switch between graph and table.
pub(super) fn view_switch(now: Controls, on_controls: &Callback<Controls>) -> Html {
    let view = |label: &'static str, is_table: bool| {
        let pressed = (now.is_table == is_table).to_string();
        let onclick = on_controls.reform(move |_: MouseEvent| Controls { is_table, ..now });
        html! { <button type="button" aria-pressed={pressed} {onclick}>{ label }</button> }
    };
    html! {
        <div class="segmented" role="group" aria-label="View">
            { view("Graph", false) }
            { view("Table", true) }
        </div>
    }
}

fn search_hint(now: Controls) -> &'static str {
    if now.is_table { "Find functions and files" } else { "Highlight functions and files" }
}

/// Shows the switches for the layout of the stacks, and the search.
#[component]
pub(super) fn Bar(props: &BarProps) -> Html {
    let now = props.controls;
    let toggle = |label: &'static str, title: &'static str, is_on: bool, next: Controls| {
        let onclick = props.on_controls.reform(move |_: MouseEvent| next);
        html! {
            <button type="button" class="toggle" aria-pressed={is_on.to_string()} {title} {onclick}>{ label }</button>
        }
    };
    let rises = now.rootward == Rootward::Down;
    let turned = if rises { Rootward::Up } else { Rootward::Down };
    let oninput = props
        .on_search
        .reform(|event: InputEvent| AttrValue::from(event.target_unchecked_into::<HtmlInputElement>().value()));
    html! {
        <div class="flame-bar" role="toolbar" aria-label="Flame graph">
            <div class="flame-toggles" role="group" aria-label="Stacks">
                if !now.is_table {
                    { toggle("Inverted", "Start with the functions that allocate, followed by their callers", now.is_inverted,
                        Controls { is_inverted: !now.is_inverted, ..now }) }
                    { toggle("Largest first", "Sort by size instead of first appearance", !now.by_appearance,
                        Controls { by_appearance: !now.by_appearance, ..now }) }
                    { toggle("Root below", "Draw the root at the bottom instead of at the top", rises,
                        Controls { rootward: turned, ..now }) }
                }
                { toggle("Lines", "Separate the lines of a function", now.by_line, Controls { by_line: !now.by_line, ..now }) }
                { toggle("Runtime", "Include the frames of PyTorch and Python", now.with_runtime,
                    Controls { with_runtime: !now.with_runtime, ..now }) }
            </div>
            <label class="scope-search">
                <Icon name={IconName::Search} />
                <input type="search" placeholder={search_hint(now)} aria-label={search_hint(now)} value={&props.search}
                    autocomplete="off" spellcheck="false" {oninput} />
            </label>
            <span class="flame-found numbers" role="status">{ props.found.clone().unwrap_or_default() }</span>
        </div>
    }
}
