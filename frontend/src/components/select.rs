//! Select box.

use web_sys::HtmlSelectElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct SelectProps {
    /// Accessible name.
    pub label: AttrValue,
    pub options: Vec<AttrValue>,
    /// Position of the chosen option.
    pub chosen: usize,
    /// Called with the position of the chosen option.
    pub on_choose: Callback<usize>,
}

/// Shows the browser's own select box, which all screen readers and phones handle.
#[component]
pub fn Select(props: &SelectProps) -> Html {
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
