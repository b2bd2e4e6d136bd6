//! What the chosen box says, and what can be done with it.

use super::canvas::Chosen;
use crate::worker::{FlameTree, NameMark};
use yew::prelude::*;

/// What the [`Footer`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct FooterProps {
    /// The chosen box.
    pub(super) chosen: Option<Chosen>,
    /// The largest allocation of a node is to be shown.
    pub(super) on_show: Callback<(FlameTree, u32)>,
    /// The callers and callees of a site are to be shown.
    pub(super) on_sandwich: Callback<NameMark>,
}

/// One line, there from the start so that nothing moves when a box is chosen.
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
            <p class="flame-chosen">
                <strong>{ &text.name }</strong>
                <span class="flame-place">{ &text.place }</span>
                <span class="numbers">{ numbers.join(", ") }</span>
            </p>
            <p class="visually-hidden" role="status">{ text.spoken() }</p>
            if let Some(onclick) = on_show {
                <button type="button" class="button" {onclick} title="Pin its largest allocation">{ "Show in timeline" }</button>
            }
            if let Some(onclick) = on_sandwich {
                <button type="button" class="button" {onclick} title="Its callers and callees">{ "Open sandwich" }</button>
            }
        </footer>
    }
}
