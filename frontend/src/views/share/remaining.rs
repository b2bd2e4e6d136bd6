//! Searchable list of all texts that remain in a clean copy.

use super::model::FoundTexts;
use crate::hooks::use_long_list;
use shared::export::SanitizeReport;
use std::rc::Rc;
use web_sys::HtmlInputElement;
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
    let search = use_state_eq(String::new);
    let texts = &props.preview.remaining;
    let found = use_memo((Rc::clone(&props.preview), (*search).clone()), |(preview, search)| {
        FoundTexts::new(&preview.remaining, search)
    });
    let pane = use_node_ref();
    let list = use_long_list(pane, found.count(), ROOM_PX);
    let oninput = {
        let (search, list) = (search.setter(), list.clone());
        move |event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            search.set(input.value());
            list.scroll_to(0);
        }
    };
    // Enter in the search field would submit the surrounding form.
    let onkeydown = |event: KeyboardEvent| {
        if event.key() == "Enter" {
            event.prevent_default();
        }
    };
    html! {
        <section class="remaining" aria-label="Texts in the copy" data-remaining={found.count().to_string()}>
            <div class="remaining-head">
                <span class="check-label">{ "Texts that others can read" }</span>
                <input type="search" value={(*search).clone()} {oninput} {onkeydown} placeholder="Search"
                    aria-label="Search the texts of the copy" autocomplete="off" spellcheck="false" />
                <span class="check-note numbers" role="status">{ found.count_text() }</span>
            </div>
            <div class="remaining-pane" ref={&list.pane} tabindex="0" role="list" aria-label="Texts in the copy"
                onscroll={&list.onscroll}>
                <div class="remaining-rows" role="presentation">
                    { for list.rows().filter_map(|row| found.row(texts, row).map(|text| text_row(row, text, found.count()))) }
                    if found.count() == 0 { <p class="hint">{ "No text matches the search." }</p> }
                </div>
                <div ref={&list.spacer} role="presentation"></div>
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
