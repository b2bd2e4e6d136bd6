//! Searchable list of all texts that remain in a clean copy.

use super::model::FoundTexts;
use crate::draw::scrolling::Scrolling;
use crate::platform::set_style;
use shared::export::SanitizeReport;
use std::rc::Rc;
use web_sys::{HtmlElement, HtmlInputElement};
use yew::prelude::*;

/// Height of the list in CSS pixels; must match the style sheet.
const ROOM_PX: f64 = 196.0;

#[derive(Clone, PartialEq, Properties)]
pub struct RemainingTextsProps {
    pub preview: Rc<SanitizeReport>,
}

/// Shows every distinct text that others will see, with a search.
///
/// Only the rows on the screen are in the document.
#[component]
pub fn RemainingTexts(props: &RemainingTextsProps) -> Html {
    let (pane, spacer) = (use_node_ref(), use_node_ref());
    let search = use_state_eq(String::new);
    let first = use_state_eq(|| 0_u32);
    let texts = &props.preview.remaining;
    let found = use_memo((Rc::clone(&props.preview), (*search).clone()), |(preview, search)| {
        FoundTexts::new(&preview.remaining, search)
    });
    let scrolling = Scrolling { row_count: found.count(), room_px: ROOM_PX };
    // A shorter list may end above the row that was the first one.
    let top = (*first).min(scrolling.first(f64::MAX));
    use_effect_with((spacer.clone(), scrolling.spacer_px()), |(spacer, height_px)| {
        if let Some(spacer) = spacer.cast::<HtmlElement>() {
            set_style(&spacer, "height", &format!("{height_px:.0}px"));
        }
    });
    let oninput = {
        let (search, first, pane) = (search.setter(), first.setter(), pane.clone());
        move |event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            search.set(input.value());
            first.set(0);
            if let Some(pane) = pane.cast::<HtmlElement>() {
                pane.set_scroll_top(0);
            }
        }
    };
    // Enter in the search field would submit the surrounding form.
    let onkeydown = |event: KeyboardEvent| {
        if event.key() == "Enter" {
            event.prevent_default();
        }
    };
    let onscroll = {
        let first = first.setter();
        move |event: Event| {
            let pane: HtmlElement = event.target_unchecked_into();
            first.set(scrolling.first(f64::from(pane.scroll_top())));
        }
    };
    let rows = top..(top + scrolling.visible() + 1).min(found.count());
    html! {
        <section class="remaining" aria-label="Texts in the copy" data-remaining={found.count().to_string()}>
            <div class="remaining-head">
                <span class="check-label">{ "Texts that others can read" }</span>
                <input type="search" value={(*search).clone()} {oninput} {onkeydown} placeholder="Search"
                    aria-label="Search the texts of the copy" autocomplete="off" spellcheck="false" />
                <span class="check-note numbers" role="status">{ found.count_text() }</span>
            </div>
            <div class="remaining-pane" ref={pane} tabindex="0" role="list" aria-label="Texts in the copy" {onscroll}>
                <div class="remaining-rows" role="presentation">
                    { for rows.filter_map(|row| found.row(texts, row).map(|text| text_row(row, text, found.count()))) }
                    if found.count() == 0 { <p class="hint">{ "No text matches the search." }</p> }
                </div>
                <div ref={spacer} role="presentation"></div>
            </div>
        </section>
    }
}

fn text_row(row: u32, (kind, text): (&str, &str), row_count: u32) -> Html {
    html! {
        <div key={row} class="remaining-row" role="listitem" aria-posinset={(u64::from(row) + 1).to_string()}
            aria-setsize={row_count.to_string()} title={text.to_owned()}>
            <span class="remaining-kind">{ kind.to_owned() }</span>
            <code>{ text.to_owned() }</code>
        </div>
    }
}
