//! Controls that select the allocations shown by a view of the dock, and the selection that the views share.

pub mod model;

use self::model::{
    MIN_BYTES, MIN_LIFETIMES, category_text, min_bytes_text, min_lifetime_text, pool_text, stream_text, weight_text,
    when_text,
};
use crate::ask::{FindGroup, GetFacts, SelectionData, SelectionFacts, Weight};
use crate::components::controls::select;
use crate::components::icon::{IconName, icon};
use crate::hooks::{FileHandle, Seen, ShownFile, use_asked, use_file, use_shown};
use crate::state::{Choice, Meaning, Selecting, When};
use shared::analysis::Category;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// The `id` of the search field, which the `/` key moves the focus to.
pub const SEARCH_ID: &str = "dock-search";

#[derive(Clone, PartialEq, Properties)]
pub struct ScopeBarProps {
    /// True if the view lets allocations be weighed.
    #[prop_or_default]
    pub has_weight: bool,
    /// Error in the search text.
    #[prop_or_default]
    pub error: Option<AttrValue>,
    /// The view's own controls, behind the scope.
    #[prop_or_default]
    pub lead: Html,
    /// Number of matches and the buttons for the previous and next match, behind the search field.
    #[prop_or_default]
    pub matches: Html,
    /// Called with each key pressed in the search field.
    #[prop_or_default]
    pub on_search_key: Callback<KeyboardEvent>,
    /// Buttons at the end.
    #[prop_or_default]
    pub children: Html,
}

/// Shows the scope, the weight, the search field and the filters.
#[component]
pub fn ScopeBar(props: &ScopeBarProps) -> Html {
    let (handle, shown) = (use_selecting(), use_shown());
    // Streams and pools to choose from.
    let facts = use_asked(Some(GetFacts { device: shown.device.device }));
    let are_filters_open = use_state_eq(|| false);
    let filters = handle.selecting().filter_count();
    let on_filters = {
        let is_open = are_filters_open.clone();
        move |_: MouseEvent| is_open.set(!*is_open)
    };
    html! {
        <div class="scope-bar">
            <div class="scope-line" role="toolbar" aria-label="Scope and filters">
                { scope_field(&handle, &shown) }
                if props.has_weight { { weight_field(&handle, shown.device.has_times) } }
                { props.lead.clone() }
                { search_field(&handle, props) }
                { props.matches.clone() }
                <button type="button" class="button quiet" aria-expanded={are_filters_open.to_string()}
                    onclick={on_filters}>
                    { if filters == 0 { "Filters".to_owned() } else { format!("Filters ({filters})") } }
                </button>
                <span class="scope-actions">{ props.children.clone() }</span>
            </div>
            if *are_filters_open { { filter_line(&handle, facts.as_deref()) } }
            if let Some(error) = &props.error {
                <p class="scope-error" role="alert">{ error }</p>
            }
            { group_line(&handle) }
        </div>
    }
}

fn scope_field(handle: &SelectingHandle, shown: &ShownFile) -> Html {
    let has_pin = shown.ready.pinned.is_some();
    let offered: Vec<When> = When::ALL.into_iter().filter(|&when| when != When::Pin || has_pin).collect();
    // While nothing is pinned, the scope of the pin is that of the peak.
    let now = match handle.selecting().when {
        When::Pin if !has_pin => When::Peak,
        when => when,
    };
    let options: Vec<AttrValue> = offered.iter().map(|&when| when_text(when).into()).collect();
    let chosen = offered.iter().position(|&when| when == now).unwrap_or(0);
    let on_choose = handle.choosing(move |selecting, index: usize| selecting.when = offered[index]);
    select("Scope", &options, chosen, &on_choose)
}

fn weight_field(handle: &SelectingHandle, has_times: bool) -> Html {
    let offered: Vec<Weight> =
        Weight::ALL.into_iter().filter(|&weight| weight != Weight::ByteTime || has_times).collect();
    let options: Vec<AttrValue> = offered.iter().map(|&weight| weight_text(weight).into()).collect();
    let chosen = offered.iter().position(|&weight| weight == handle.selecting().weight).unwrap_or(0);
    let on_choose = handle.choosing(move |selecting, index: usize| selecting.weight = offered[index]);
    select("Weight", &options, chosen, &on_choose)
}

fn search_field(handle: &SelectingHandle, props: &ScopeBarProps) -> Html {
    let filter = &handle.selecting().filter;
    let oninput = handle.choosing(|selecting, event: InputEvent| {
        let input: HtmlInputElement = event.target_unchecked_into();
        selecting.filter.text = input.value();
    });
    let on_expression = handle.choosing(|selecting, _: MouseEvent| {
        selecting.filter.is_expression = !selecting.filter.is_expression;
    });
    html! {
        <span class="scope-search">
            { icon(IconName::Search) }
            <input type="search" id={SEARCH_ID} value={filter.text.clone()} {oninput} aria-label="Search allocations"
                placeholder="Search frames, files, modules" title="Search (/)" autocomplete="off" spellcheck="false"
                aria-invalid={props.error.is_some().to_string()} onkeydown={props.on_search_key.clone()} />
            <button type="button" class="scope-expression" aria-pressed={filter.is_expression.to_string()}
                aria-label="Regular expression" title="Regular expression" onclick={on_expression}>{ ".*" }</button>
        </span>
    }
}

fn filter_line(handle: &SelectingHandle, facts: Option<&SelectionFacts>) -> Html {
    let filter = &handle.selecting().filter;
    let size = MIN_BYTES.iter().position(|&bytes| bytes == filter.min_bytes).unwrap_or(0);
    let lifetime = MIN_LIFETIMES.iter().position(|&events| events == filter.min_lifetime).unwrap_or(0);
    let sizes: Vec<AttrValue> = MIN_BYTES.iter().map(|&bytes| min_bytes_text(bytes).into()).collect();
    let on_size = handle.choosing(|selecting, index: usize| selecting.filter.min_bytes = MIN_BYTES[index]);
    let lifetimes: Vec<AttrValue> = MIN_LIFETIMES.iter().map(|&events| min_lifetime_text(events).into()).collect();
    let on_lifetime = handle.choosing(|selecting, index: usize| selecting.filter.min_lifetime = MIN_LIFETIMES[index]);
    let on_category = handle.choosing(|selecting, category| selecting.filter.category = category);
    let facts = facts.cloned().unwrap_or_default();
    let on_stream = handle.choosing(|selecting, stream| selecting.filter.stream = stream);
    let on_pool = handle.choosing(|selecting, pool| selecting.filter.pool = pool);
    let on_clear = handle.choosing(|selecting, _: MouseEvent| *selecting = selecting.without_filter());
    html! {
        <div class="scope-line scope-filters" role="group" aria-label="Filters">
            { select("Minimum size", &sizes, size, &on_size) }
            { select("Minimum lifetime", &lifetimes, lifetime, &on_lifetime) }
            { optional("Category", "Any category", named(&Category::ALL, category_text), filter.category, on_category) }
            { optional("Stream", "Any stream", named(&facts.streams, stream_text), filter.stream, on_stream) }
            { optional("Pool", "Any pool", named(&facts.pools, pool_text), filter.pool, on_pool) }
            <button type="button" class="button quiet" onclick={on_clear}>{ "Clear" }</button>
        </div>
    }
}

fn named<T: Copy>(values: &[T], name: impl Fn(T) -> String) -> Vec<(T, String)> {
    values.iter().map(|&value| (value, name(value))).collect()
}

/// Shows a select box of values, preceded by an entry for none of them.
fn optional<T: Copy + PartialEq + 'static>(
    label: &'static str,
    none: &'static str,
    values: Vec<(T, String)>,
    value: Option<T>,
    on_choose: Callback<Option<T>>,
) -> Html {
    let names = values.iter().map(|(_, name)| AttrValue::from(name.clone()));
    let options: Vec<AttrValue> = std::iter::once(AttrValue::from(none)).chain(names).collect();
    let chosen = values.iter().position(|(other, _)| Some(*other) == value).map_or(0, |position| position + 1);
    let on_choose =
        on_choose.reform(move |index: usize| index.checked_sub(1).and_then(|index| values.get(index)).map(|row| row.0));
    select(label, &options, chosen, &on_choose)
}

/// Shows the group to which the selection is limited, and a button that lifts the limit.
fn group_line(handle: &SelectingHandle) -> Html {
    if handle.selecting().filter.group.is_none() {
        return Html::default();
    }
    let on_all = handle.choosing(|selecting, _: MouseEvent| *selecting = selecting.with_group(None));
    html! {
        <div class="scope-line">
            <button type="button" class="scope-group" title="Show all allocations again" onclick={on_all}>
                <span>{ "Only " }{ &handle.selecting().group_title }</span>{ icon(IconName::Close) }
            </button>
        </div>
    }
}

/// Selection, with the file whose views it limits.
#[derive(Clone, PartialEq)]
pub struct SelectingHandle {
    file: FileHandle,
    shown: Rc<ShownFile>,
}

impl SelectingHandle {
    pub fn selecting(&self) -> &Selecting {
        &self.shown.ready.choices.selecting
    }

    pub fn choose(&self, selecting: Selecting) {
        self.file.choose(Choice::Selecting(selecting));
    }

    /// Returns a callback that applies `change` with its argument to the selection.
    pub fn choosing<T: 'static>(&self, change: impl Fn(&mut Selecting, T) + 'static) -> Callback<T> {
        let handle = self.clone();
        Callback::from(move |value| {
            let mut selecting = handle.selecting().clone();
            change(&mut selecting, value);
            handle.choose(selecting);
        })
    }

    /// Resolves the selection for the shown device and the part of the timeline in view.
    pub fn data(&self, seen: Option<Seen>) -> SelectionData {
        let ShownFile { ready, device, .. } = &*self.shown;
        let seen = seen.filter(|seen| seen.device == device.device);
        let view = seen.and_then(|seen| seen.range.map(|range| (seen.axis, range.x.start, range.x.end)));
        let pin = ready.pinned.as_ref().map(|hit| hit.moment);
        self.selecting().data(&Meaning { peak: device.peak_moment, pin, view })
    }
}

/// Returns the selection of the views below the timeline.
#[hook]
pub fn use_selecting() -> SelectingHandle {
    SelectingHandle { file: use_file(), shown: use_shown() }
}

/// Looks up the group that an address names by its mark; if there is none, all groups are selected.
#[hook]
pub fn use_awaited_group() {
    let handle = use_selecting();
    let (device, awaited) = (handle.shown.device.device, handle.selecting().awaited_group());
    use_effect_with((handle.file.client.clone(), device, awaited), move |(client, device, awaited)| {
        let (client, device, awaited) = (client.clone(), *device, *awaited);
        spawn_local(async move {
            let Some(mark) = awaited else { return };
            // An error means that the file was closed.
            if let Ok(found) = client.ask(FindGroup { device, group: mark }).await {
                let group = found.map(|(key, title)| (key, title, mark.mark));
                handle.choose(handle.selecting().with_group(group));
            }
        });
    });
}
