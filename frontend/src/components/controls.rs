//! Select box, and keyboard navigation of tab lists.

use crate::platform::focus_first;
use crate::state::tab_after;
use web_sys::{Element, HtmlSelectElement};
use yew::prelude::*;

/// Shows the browser's own select box, which all screen readers and phones handle; options are known by position.
pub fn select(label: &'static str, options: &[AttrValue], chosen: usize, on_choose: &Callback<usize>) -> Html {
    let (count, on_choose) = (options.len(), on_choose.clone());
    let onchange = move |event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        if let Some(index) = usize::try_from(select.selected_index()).ok().filter(|&index| index < count) {
            on_choose.emit(index);
        }
    };
    let option = |(index, text): (usize, &AttrValue)| {
        html! { <option key={index} selected={index == chosen}>{ text }</option> }
    };
    html! {
        <select class="scope-select" aria-label={label} title={label} {onchange}>
            { for options.iter().enumerate().map(option) }
        </select>
    }
}

/// Same as [`tab_keys`] for tabs under each other, where the arrows up and down also choose.
pub fn row_keys(chosen: u32, count: u32, on_choose: Callback<u32>) -> Callback<KeyboardEvent> {
    keys(chosen, count, on_choose, |key| match key {
        "ArrowDown" => "ArrowRight".to_owned(),
        "ArrowUp" => "ArrowLeft".to_owned(),
        key => key.to_owned(),
    })
}

/// Returns a handler for `onkeydown` of a tab list that chooses another tab and moves the focus to it.
///
/// Tabs carry their position in the attribute `data-tab`.
pub fn tab_keys(chosen: u32, count: u32, on_choose: Callback<u32>) -> Callback<KeyboardEvent> {
    keys(chosen, count, on_choose, str::to_owned)
}

fn keys(chosen: u32, count: u32, on_choose: Callback<u32>, key: fn(&str) -> String) -> Callback<KeyboardEvent> {
    Callback::from(move |event: KeyboardEvent| {
        let Some(next) = tab_after(&key(&event.key()), chosen, count) else { return };
        // The timeline would pan otherwise.
        event.prevent_default();
        on_choose.emit(next);
        if let Some(tabs) = event.target_dyn_into::<Element>().and_then(|tab| tab.parent_element()) {
            focus_first(&tabs, &format!("[data-tab='{next}']"));
        }
    })
}
