//! Line below a flame graph that describes the chosen box.

use super::props::Chosen;
use crate::ask::{FlameTree, NameMark};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct FooterProps {
    pub(super) chosen: Option<Chosen>,
    /// Called with a node whose largest allocation should be shown.
    pub(super) on_show: Callback<(FlameTree, u32)>,
    /// Called with a site whose callers and callees should be shown.
    pub(super) on_sandwich: Callback<NameMark>,
}

/// Shows one line, which is also there without a chosen box so that nothing moves when one is chosen.
#[component]
pub(super) fn Footer(props: &FooterProps) -> Html {
    let Some(chosen) = &props.chosen else {
        return html! {
            <footer class="flame-foot">
                <p class="flame-hint">{ "Click a box to zoom in, Esc or Backspace to go back" }</p>
                <p class="visually-hidden" role="status"></p>
            </footer>
        };
    };
    let text = &chosen.text;
    let on_show = chosen.node.map(|node| {
        let tree = chosen.tree.clone();
        props.on_show.reform(move |_: MouseEvent| (tree.clone(), node))
    });
    let on_sandwich = chosen.site.map(|site| props.on_sandwich.reform(move |_: MouseEvent| site));
    let numbers = [&text.total, &text.own, &text.count];
    let numbers: Vec<&str> = numbers.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    html! {
        <footer class="flame-foot">
            <p class="flame-chosen" data-chosen="">
                <strong>{ &text.name }</strong>
                <span class="flame-place">{ &text.place }</span>
                <span class="numbers">{ numbers.join(", ") }</span>
            </p>
            <p class="visually-hidden" role="status">{ text.spoken() }</p>
            if let Some(onclick) = on_show {
                <button type="button" class="button" {onclick} title="Pin its largest allocation">{ "Show in timeline" }</button>
            }
            if let Some(onclick) = on_sandwich {
                <button type="button" class="button" {onclick} title="Show its callers and callees">{ "Open sandwich" }</button>
            }
        </footer>
    }
}
