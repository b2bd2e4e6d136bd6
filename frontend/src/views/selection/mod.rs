//! Controls that select the allocations shown by a view of the dock, and the selection that the views share.

pub mod model;

use self::model::{
    MIN_BYTES, MIN_LIFETIMES, category_text, min_bytes_text, min_lifetime_text, pool_text, stream_text, weight_text,
    when_text,
};
use crate::ask::{FindGroup, GetFacts, SelectionData, SelectionFacts, Weight};
use crate::components::{IconName, icon, select, text_of, toggling};
use crate::hooks::{FileHandle, Seen, ShownFile, use_asked, use_file, use_shown};
use crate::state::{Choice, Meaning, Selecting, When};
use shared::analysis::Category;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// The `id` of the search field, which the `/` key moves the focus to.
pub const SEARCH_ID: &str = "dock-search";

#[derive(Clone, PartialEq, Properties)]
pub struct ScopeBarProps {
    /// True if the view lets allocations be weighed.
    #[prop_or_default]
    pub has_weight: bool,
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
    #[prop_or_default]
    pub children: Html,
}

#[component]
pub fn ScopeBar(props: &ScopeBarProps) -> Html {
    let (handle, shown) = (use_selecting(), use_shown());
    // Streams and pools to choose from.
    let facts = use_asked(Some(GetFacts { device: shown.device.device }));
    let are_filters_open = use_state_eq(|| false);
    let filters = handle.selecting().filter_count();
    html! {
        <div class="scope-bar">
            <div class="scope-line" role="toolbar" aria-label="Scope and filters">
                { scope_field(&handle, &shown) }
                if props.has_weight { { weight_field(&handle, shown.device.has_times) } }
                { props.lead.clone() }
                { search_field(&handle, props) }
                { props.matches.clone() }
                <button type="button" class="button quiet" aria-expanded={are_filters_open.to_string()}
                    onclick={toggling(&are_filters_open)}>
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
    offer(handle, "Scope", named(&offered, when_text), now, |selecting, when| selecting.when = when)
}

fn weight_field(handle: &SelectingHandle, has_times: bool) -> Html {
    let offered: Vec<Weight> =
        Weight::ALL.into_iter().filter(|&weight| weight != Weight::ByteTime || has_times).collect();
    let (values, now) = (named(&offered, weight_text), handle.selecting().weight);
    offer(handle, "Weight", values, now, |selecting, weight| selecting.weight = weight)
}

fn search_field(handle: &SelectingHandle, props: &ScopeBarProps) -> Html {
    let filter = &handle.selecting().filter;
    let oninput = handle.choosing(|selecting, event: InputEvent| selecting.filter.text = text_of(&event));
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
    let SelectionFacts { streams, pools } = facts.cloned().unwrap_or_default();
    let (sizes, lifetimes) = (named(&MIN_BYTES, min_bytes_text), named(&MIN_LIFETIMES, min_lifetime_text));
    let categories = any_of("Any category", &Category::ALL, category_text);
    let (streams, pools) = (any_of("Any stream", &streams, stream_text), any_of("Any pool", &pools, pool_text));
    let on_clear = handle.choosing(|selecting, _: MouseEvent| *selecting = selecting.without_filter());
    html! {
        <div class="scope-line scope-filters" role="group" aria-label="Filters">
            { offer(handle, "Minimum size", sizes, filter.min_bytes, |of, bytes| of.filter.min_bytes = bytes) }
            { offer(handle, "Minimum lifetime", lifetimes, filter.min_lifetime, |of, least| of.filter.min_lifetime = least) }
            { offer(handle, "Category", categories, filter.category, |of, category| of.filter.category = category) }
            { offer(handle, "Stream", streams, filter.stream, |of, stream| of.filter.stream = stream) }
            { offer(handle, "Pool", pools, filter.pool, |of, pool| of.filter.pool = pool) }
            <button type="button" class="button quiet" onclick={on_clear}>{ "Clear" }</button>
        </div>
    }
}

fn named<T: Copy, S: Into<AttrValue>>(values: &[T], name: fn(T) -> S) -> (Vec<T>, Vec<AttrValue>) {
    values.iter().map(|&value| (value, name(value).into())).unzip()
}

/// Returns values with their names, preceded by an entry for none of them.
fn any_of<T: Copy>(none: &'static str, values: &[T], name: fn(T) -> String) -> (Vec<Option<T>>, Vec<AttrValue>) {
    let some = values.iter().map(|&value| (Some(value), name(value).into()));
    std::iter::once((None, none.into())).chain(some).unzip()
}

/// Shows a select box of values with their names; `change` puts the chosen one into the selection.
fn offer<T: Copy + PartialEq + 'static>(
    handle: &SelectingHandle,
    label: &'static str,
    (values, names): (Vec<T>, Vec<AttrValue>),
    now: T,
    change: fn(&mut Selecting, T),
) -> Html {
    let chosen = values.iter().position(|value| *value == now).unwrap_or(0);
    let on_choose = handle.choosing(move |selecting, index: usize| change(selecting, values[index]));
    select(label, &names, chosen, &on_choose)
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

#[hook]
pub fn use_selecting() -> SelectingHandle {
    SelectingHandle { file: use_file(), shown: use_shown() }
}

/// Returns the latest value that there was: while a filter's text cannot be read, views show the previous result.
#[hook]
pub fn use_latest<T: Clone + 'static>(value: Option<T>) -> Option<T> {
    let latest = use_mut_ref(|| None);
    if value.is_some() {
        latest.replace(value);
    }
    latest.borrow().clone()
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
