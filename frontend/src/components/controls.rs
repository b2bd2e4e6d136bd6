//! Buttons, select boxes, values of events, and keyboard navigation of tab lists.

use super::icon::{IconName, icon};
use crate::platform::focus_first;
use crate::state::tab_after;
use web_sys::{Element, HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

pub fn text_of(event: &Event) -> String {
    event.target_unchecked_into::<HtmlInputElement>().value()
}

pub fn is_checked(event: &Event) -> bool {
    event.target_unchecked_into::<HtmlInputElement>().checked()
}

/// Returns the position of the chosen option of a select box.
pub fn position_of(event: &Event) -> usize {
    event.target_unchecked_into::<HtmlSelectElement>().selected_index().max(0) as usize
}

pub fn click(act: &Callback<()>) -> Callback<MouseEvent> {
    act.reform(|_| ())
}

/// Returns a callback that does something with a state of its own, such as clones of handles.
pub fn bound<S: 'static, T: 'static, R: 'static>(state: S, act: impl Fn(&S, T) -> R + 'static) -> Callback<T, R> {
    Callback::from(move |value| act(&state, value))
}

/// Returns a handler of clicks that pass on the same value each time.
pub fn passing<T: Clone + 'static>(on_value: &Callback<T>, value: T) -> Callback<MouseEvent> {
    on_value.reform(move |_| value.clone())
}

pub fn toggling(state: &UseStateHandle<bool>) -> Callback<MouseEvent> {
    bound(state.clone(), |state, _| state.set(!**state))
}

pub fn setting<T: 'static>(state: &UseStateHandle<T>) -> Callback<T> {
    bound(state.setter(), |setter, value| setter.set(value))
}

/// Shows a button with an icon alone, with a tooltip if `title` is not empty; without an effect it is disabled.
pub fn square_button(
    name: IconName,
    label: &'static str,
    title: &'static str,
    onclick: Option<Callback<MouseEvent>>,
) -> Html {
    html! {
        <button type="button" class="button quiet square" aria-label={label} title={(!title.is_empty()).then_some(title)}
            disabled={onclick.is_none()} {onclick}>{ icon(name) }</button>
    }
}

/// Shows buttons beside each other, of which mostly one is pressed.
pub fn segmented(label: &'static str, buttons: impl IntoIterator<Item = Html>) -> Html {
    html! { <div class="segmented" role="group" aria-label={label}>{ for buttons }</div> }
}

/// Shows a button that is pressed or not, with a tooltip if `title` is not empty; without an effect it is disabled.
pub fn choice(label: &str, title: &'static str, is_on: bool, onclick: Option<Callback<MouseEvent>>) -> Html {
    html! {
        <button type="button" title={(!title.is_empty()).then_some(title)} disabled={onclick.is_none()}
            aria-pressed={is_on.to_string()} {onclick}>{ label }</button>
    }
}

/// Shows the browser's own select box, which all screen readers and phones handle; options are known by position.
pub fn select(label: &'static str, texts: &[AttrValue], chosen: usize, on_choose: &Callback<usize>) -> Html {
    html! {
        <select class="scope-select" aria-label={label} title={label} onchange={by_position(texts.len(), on_choose)}>
            { options(texts, chosen) }
        </select>
    }
}

/// Returns a handler of changes of a select box with a number of options.
pub fn by_position(count: usize, on_choose: &Callback<usize>) -> Callback<Event> {
    let on_choose = on_choose.clone();
    Callback::from(move |event: Event| {
        let position = position_of(&event);
        if position < count {
            on_choose.emit(position);
        }
    })
}

pub fn options(texts: &[AttrValue], chosen: usize) -> Html {
    let option = |(index, text): (usize, &AttrValue)| {
        html! { <option key={index} selected={index == chosen}>{ text }</option> }
    };
    texts.iter().enumerate().map(option).collect()
}

/// Returns a handler for `onkeydown` of a tab list that chooses another tab and moves the focus to it.
///
/// Tabs carry their position in the attribute `data-tab`; those of rows are under each other, where the arrows up and
/// down also choose.
pub fn tab_keys(chosen: u32, count: u32, are_rows: bool, on_choose: Callback<u32>) -> Callback<KeyboardEvent> {
    Callback::from(move |event: KeyboardEvent| {
        let key = match event.key() {
            key if are_rows && key == "ArrowDown" => "ArrowRight".to_owned(),
            key if are_rows && key == "ArrowUp" => "ArrowLeft".to_owned(),
            key => key,
        };
        let Some(next) = tab_after(&key, chosen, count) else { return };
        // The timeline would pan otherwise.
        event.prevent_default();
        on_choose.emit(next);
        if let Some(tabs) = event.target_dyn_into::<Element>().and_then(|tab| tab.parent_element()) {
            focus_first(&tabs, &format!("[data-tab='{next}']"));
        }
    })
}
