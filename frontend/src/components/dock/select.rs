//! A list of which one entry is chosen.

use web_sys::HtmlSelectElement;
use yew::prelude::*;

/// What a [`Select`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct SelectProps {
    /// What it is called, for those who can't see what it is next to.
    pub(super) label: AttrValue,
    /// The entries.
    pub(super) options: Vec<AttrValue>,
    /// The position of the chosen one.
    pub(super) chosen: usize,
    /// One was chosen, by position.
    pub(super) on_choose: Callback<usize>,
}

/// The browser's own list, which every screen reader and phone knows.
#[component]
pub(super) fn Select(props: &SelectProps) -> Html {
    let count = props.options.len();
    let on_choose = props.on_choose.clone();
    let onchange = move |event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        if let Some(index) = usize::try_from(select.selected_index()).ok().filter(|&index| index < count) {
            on_choose.emit(index);
        }
    };
    let option = |(index, text): (usize, &AttrValue)| {
        html! { <option key={index} selected={index == props.chosen}>{ text }</option> }
    };
    html! {
        <select class="scope-select" aria-label={props.label.clone()} title={props.label.clone()} {onchange}>
            { for props.options.iter().enumerate().map(option) }
        </select>
    }
}
