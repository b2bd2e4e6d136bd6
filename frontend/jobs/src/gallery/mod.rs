//! Gallery of mistakes and ready-made configs, with a search and filters.

mod card;
mod model;
pub(crate) mod see;

use self::card::gallery_card;
use self::model::{CatalogFilter, Entry, Kind, Topic, entries, topics};
use crate::common::hooks::{Fetched, use_fetched};
use crate::common::parts::{refusal_note, value_of};
use frontend::components::icon::{IconName, icon};
use shared::api::GalleryRow;
use shared::base::format;
use std::collections::BTreeSet;
use yew::prelude::*;

fn wait_ms(rows: &Fetched<Vec<GalleryRow>>) -> Option<u32> {
    // The gallery changes only with the server's version, so only an error is retried.
    rows.error.is_some().then_some(5000)
}

#[component]
pub(crate) fn Gallery() -> Html {
    let rows = use_fetched::<Vec<GalleryRow>>(Some("gallery".to_owned()), wait_ms);
    let filter = use_state_eq(CatalogFilter::default);
    let all =
        use_memo(rows.now.answer.clone(), |rows| rows.as_ref().map(|rows| entries(rows.to_vec())).unwrap_or_default());
    let found: Vec<&Entry> = all.iter().filter(|entry| filter.takes(entry)).collect();
    let on_filter = {
        let filter = filter.clone();
        Callback::from(move |changed| filter.set(changed))
    };
    html! {
        <section class="section" aria-labelledby="gallery-title">
            <h2 id="gallery-title" class="section-title">{ "Gallery" }</h2>
            <p class="hint">
                { "Scripts with common mistakes and their fixes, and configs of healthy training runs of realistic size. \
                   The server records each config once, in seconds, when somebody first opens it." }
            </p>
            if let Some(error) = &rows.now.error {
                { refusal_note(error, None) }
            }
            if rows.now.answer.is_some() {
                { filters(&filter, &all, &on_filter) }
                <p class="visually-hidden" role="status">{ format::counted(found.len() as u64, "card") }</p>
                if found.is_empty() {
                    <p class="hint empty">{ "Nothing in the gallery matches." }</p>
                }
                <div data-found={found.len().to_string()}>{ for topics(&found).iter().map(topic) }</div>
            } else if rows.now.error.is_none() {
                <p class="hint waiting" role="status">{ "Loading the gallery…" }</p>
            }
        </section>
    }
}

fn topic(topic: &Topic) -> Html {
    html! {
        <section key={topic.title.to_owned()} class="topic">
            if !topic.title.is_empty() {
                <h3 class="topic-title">{ topic.title }</h3>
            }
            <div class="tiles">{ for topic.entries.iter().map(|entry| gallery_card(entry)) }</div>
        </section>
    }
}

fn filters(filter: &CatalogFilter, all: &[Entry], on_filter: &Callback<CatalogFilter>) -> Html {
    let oninput = {
        let filter = filter.clone();
        on_filter.reform(move |event: InputEvent| CatalogFilter { query: value_of(&event), ..filter.clone() })
    };
    let kind = |kind: Option<Kind>, text: &'static str| {
        let (is_chosen, filter) = (filter.kind == kind, filter.clone());
        let onclick = on_filter.reform(move |_: MouseEvent| CatalogFilter { kind, ..filter.clone() });
        html! { <button type="button" aria-pressed={is_chosen.to_string()} {onclick}>{ text }</button> }
    };
    let names = |name: fn(&Entry) -> &String| {
        all.iter().map(name).filter(|name| !name.is_empty()).cloned().collect::<BTreeSet<_>>()
    };
    html! {
        <div class="filters" role="search">
            <label class="search">
                { icon(IconName::Search) }
                <span class="visually-hidden">{ "Search the gallery" }</span>
                <input type="search" placeholder="Search" value={filter.query.clone()} {oninput} />
            </label>
            <div class="segmented" role="group" aria-label="Kind of card">
                { kind(None, "All") }
                { kind(Some(Kind::Mistake), "Mistakes") }
                { kind(Some(Kind::Healthy), "Healthy") }
            </div>
            { choice("All models", filter.model.as_deref(), names(|entry| &entry.model), {
                let (filter, on_filter) = (filter.clone(), on_filter.clone());
                Callback::from(move |model| on_filter.emit(CatalogFilter { model, ..filter.clone() }))
            }) }
            { choice("All GPUs", filter.card.as_deref(), names(|entry| &entry.card), {
                let (filter, on_filter) = (filter.clone(), on_filter.clone());
                Callback::from(move |card| on_filter.emit(CatalogFilter { card, ..filter.clone() }))
            }) }
        </div>
    }
}

/// Shows a select box for one of several words, or for all of them.
fn choice(
    all: &'static str,
    chosen: Option<&str>,
    words: BTreeSet<String>,
    on_choose: Callback<Option<String>>,
) -> Html {
    let onchange = on_choose.reform(|event: Event| Some(value_of(&event)).filter(|word| !word.is_empty()));
    let option = |word: &String| {
        html! { <option value={word.clone()} selected={chosen == Some(word.as_str())}>{ word }</option> }
    };
    html! {
        <select class="select" aria-label={all} {onchange}>
            <option value="" selected={chosen.is_none()}>{ all }</option>
            { for words.iter().map(option) }
        </select>
    }
}
