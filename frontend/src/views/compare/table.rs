//! Table of differences, with sorting, a filter and grouping; only the rows in view are in the document.

use super::hook::Comparison;
use crate::ask::DiffBy;
use crate::ask::differences::{Column, Entry, bar, delta_text, entries, shown};
use crate::components::{bound, choice, passing, segmented, text_of};
use crate::hooks::{use_file, use_shown};
use crate::platform::ResizeListener;
use crate::state::{Choice, DifferencesChoice};
use shared::base::format;
use std::ops::Range;
use std::rc::Rc;
use web_sys::HtmlElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct TableProps {
    pub(super) comparison: Option<Rc<Comparison>>,
    pub(super) on_pick: Callback<usize>,
    pub(super) files: Html,
}

/// Height of a row in CSS pixels; must match the style sheet.
const ROW_PX: i32 = 30;

/// Number of rows rendered beyond each edge, so that fast scrolling shows no gap.
const SPARE: usize = 6;

/// The part of the list in view, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Window {
    top: i32,
    height: i32,
}

impl Window {
    fn of(element: &HtmlElement) -> Self {
        Self { top: element.scroll_top(), height: element.client_height() }
    }

    fn rows(self, count: usize) -> Range<usize> {
        let row = |px: i32| (px.max(0) / ROW_PX) as usize;
        let first = row(self.top).saturating_sub(SPARE).min(count);
        first..(row(self.top + self.height) + 1 + SPARE).min(count)
    }
}

/// Shows a grid of rows with a cursor that the arrow keys move, and above it what groups and filters them.
#[component]
pub(super) fn Table(props: &TableProps) -> Html {
    let on_differences = use_file().choosing(Choice::Differences);
    let now = use_shown().ready.choices.differences.clone();
    let DifferencesChoice { by, sort, filter } = now.clone();
    let all = use_memo((props.comparison.clone(), by), |(comparison, by)| {
        comparison.as_ref().map_or_else(Vec::new, |comparison| entries(&comparison.diff, *by))
    });
    let order = use_memo((all.clone(), filter.clone(), sort), |(all, filter, sort)| shown(all, filter, *sort));
    let list = use_node_ref();
    let window = use_state_eq(Window::default);
    let cursor = use_state_eq(|| 0_usize);
    let look = bound((list.clone(), window.setter()), move |(list, window), ()| {
        if let Some(list) = list.cast::<HtmlElement>() {
            window.set(Window::of(&list));
        }
    });
    let resized = look.clone();
    use_effect_with(list.clone(), move |list| {
        let element = list.cast::<HtmlElement>();
        let listener = element.and_then(|element| ResizeListener::new(&element, move || resized.emit(())));
        move || drop(listener)
    });
    // A new order is shown from its top.
    let (ordered, first, reordered) = (list.clone(), cursor.setter(), look.clone());
    use_effect_with(order.clone(), move |_| {
        first.set(0);
        if let Some(list) = ordered.cast::<HtmlElement>() {
            list.set_scroll_top(0);
        }
        reordered.emit(());
    });
    let count = order.len();
    let onkeydown = on_key((&all, &order), props.on_pick.clone(), &list, &cursor);
    let visible = window.rows(count);
    let largest = order.iter().map(|&position| all[position].change.bytes().unsigned_abs()).max();
    let row = |place: usize| {
        let entry = &all[order[place]];
        let stack = entry.stack;
        let onclick = bound((cursor.setter(), props.on_pick.clone()), move |(cursor, on_pick), _: MouseEvent| {
            cursor.set(place);
            stack.iter().for_each(|&stack| on_pick.emit(stack));
        });
        row(entry, place, place == *cursor, largest.unwrap_or(0), onclick)
    };
    let (told, empty) = match &props.comparison {
        None => (String::new(), "Comparing…"),
        Some(_) => (
            match count == all.len() {
                true => format::counted(count as u64, "difference"),
                false => format!("{} of {}", format::count(count as u64), format::count(all.len() as u64)),
            },
            if filter.is_empty() { "Both sides are the same" } else { "No difference matches the filter" },
        ),
    };
    let change = |next: DifferencesChoice| passing(&on_differences, next);
    let groups =
        [(DiffBy::Stack, "Stack"), (DiffBy::Category, "Category"), (DiffBy::Module, "Module")].map(|(this, label)| {
            choice(label, "", by == this, Some(change(DifferencesChoice { by: this, ..now.clone() })))
        });
    let head = |column: Column, label: &'static str| {
        let onclick = change(DifferencesChoice { sort: sort.after(column), ..now.clone() });
        html! {
            <span class="compare-cell" role="columnheader" aria-sort={sort.aria(column)}>
                <button type="button" {onclick}>{ label }</button>
            </span>
        }
    };
    let oninput = {
        let now = now.clone();
        on_differences.reform(move |event: InputEvent| DifferencesChoice { filter: text_of(&event), ..now.clone() })
    };
    html! {
        <section class="compare-table" aria-label="Differences">
            <div class="compare-tools">
                { segmented("Group by", groups) }
                <input type="search" class="compare-filter" placeholder="Filter" aria-label="Filter" value={filter.clone()}
                    {oninput} />
                <span class="compare-count numbers" role="status">{ told }</span>
                { props.files.clone() }
            </div>
            <div class="compare-grid" role="grid" aria-label="Differences" aria-rowcount={(count + 1).to_string()}>
                <div class="compare-row compare-columns" role="row" aria-rowindex="1">
                    { head(Column::Delta, "Change") }
                    <span class="compare-cell compare-bar-cell" role="columnheader">
                        <span class="visually-hidden">{ "Change as a bar" }</span>
                    </span>
                    { head(Column::Other, "Other") }
                    { head(Column::This, "This") }
                    { head(Column::Count, "Count") }
                    { head(Column::Title, "Name") }
                </div>
                <div class="compare-list" ref={list} tabindex="0" role="rowgroup" aria-label="Rows"
                    aria-activedescendant={(count > 0).then(|| row_id(*cursor))}
                    onscroll={look.reform(|_: Event| ())} {onkeydown}>
                    <svg class="compare-space" height={(visible.start as i32 * ROW_PX).to_string()} aria-hidden="true" />
                    { for visible.clone().map(row) }
                    <svg class="compare-space" height={((count - visible.end) as i32 * ROW_PX).to_string()} aria-hidden="true" />
                    if count == 0 {
                        <div role="row" aria-rowindex="2"><p class="panel-empty" role="gridcell">{ empty }</p></div>
                    }
                </div>
            </div>
        </section>
    }
}

fn row_id(place: usize) -> String {
    format!("compare-row-{place}")
}

fn row(entry: &Entry, place: usize, is_current: bool, largest: u64, onclick: Callback<MouseEvent>) -> Html {
    let change = &entry.change;
    let delta = change.bytes();
    let (x, width) = bar(delta, largest);
    let title = [entry.title.as_str(), &entry.place, &entry.leaf, &entry.differs, entry.category, entry.note];
    let title = title.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    let number = |text: String| html! { <span class="compare-cell numbers" role="gridcell">{ text }</span> };
    html! {
        <div key={place} id={row_id(place)} class={classes!("compare-row", entry.stack.map(|_| "pickable"))} role="row"
            aria-rowindex={(place + 2).to_string()} aria-selected={is_current.to_string()}
            data-pickable={entry.stack.map(|_| "")} {onclick} {title}>
            { number(delta_text(delta, format::bytes)) }
            <span class="compare-cell compare-bar-cell" role="gridcell">
                <svg class={classes!("compare-bar", if delta < 0 { "less" } else { "more" })} viewBox="0 0 100 8"
                    preserveAspectRatio="none" aria-hidden="true">
                    <rect x={format!("{x:.2}")} width={format!("{width:.2}")} height="8" />
                    <path d="M50 0V8" />
                </svg>
            </span>
            { number(format::bytes(change.before_bytes)) }
            { number(format::bytes(change.after_bytes)) }
            { number(delta_text(change.count(), format::count)) }
            <span class="compare-cell compare-name" role="gridcell">
                <span class="compare-title">{ &entry.title }</span>
                if !entry.place.is_empty() { <span class="compare-place">{ &entry.place }</span> }
                if !entry.leaf.is_empty() { <span class="compare-callee">{ "→ " }{ &entry.leaf }</span> }
                if !entry.differs.is_empty() { <span class="compare-callee">{ "· " }{ &entry.differs }</span> }
                if !entry.note.is_empty() { <span class="compare-note">{ entry.note }</span> }
            </span>
        </div>
    }
}

/// Moves the cursor by the arrow, page, Home and End keys; Enter and Space pick the row under it.
fn on_key(
    (all, order): (&Rc<Vec<Entry>>, &Rc<Vec<usize>>),
    on_pick: Callback<usize>,
    list: &NodeRef,
    cursor: &UseStateHandle<usize>,
) -> Callback<KeyboardEvent> {
    let (all, order, list, cursor) = (all.clone(), order.clone(), list.clone(), cursor.clone());
    Callback::from(move |event: KeyboardEvent| {
        let Some(list) = list.cast::<HtmlElement>() else { return };
        let (now, last) = (*cursor, order.len().saturating_sub(1));
        let page = (list.client_height() / ROW_PX).max(1) as usize;
        let next = match event.key().as_str() {
            "ArrowDown" => (now + 1).min(last),
            "ArrowUp" => now.saturating_sub(1),
            "PageDown" => (now + page).min(last),
            "PageUp" => now.saturating_sub(page),
            "Home" => 0,
            "End" => last,
            "Enter" | " " => {
                let stack = order.get(now).and_then(|&position| all[position].stack);
                stack.iter().for_each(|&stack| on_pick.emit(stack));
                now
            }
            _ => return,
        };
        // The timeline would pan otherwise.
        event.prevent_default();
        event.stop_propagation();
        cursor.set(next);
        bring_into_view(&list, next);
    })
}

fn bring_into_view(list: &HtmlElement, place: usize) {
    let Window { top, height } = Window::of(list);
    let start = place as i32 * ROW_PX;
    if start < top {
        list.set_scroll_top(start);
    } else if start + ROW_PX > top + height {
        list.set_scroll_top(start + ROW_PX - height);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_in_view_are_in_the_page() {
        let window = Window { top: 3000, height: 300 };
        assert_eq!(window.rows(1_000_000), 94..117);
        assert_eq!(window.rows(100), 94..100);
        assert_eq!(window.rows(0), 0..0);
        assert_eq!(Window::default().rows(3), 0..3);
    }
}
