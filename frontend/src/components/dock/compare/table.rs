//! What differs, row by row: sorted, filtered, grouped.

use super::rows::Rows;
use crate::hooks::Comparison;
use crate::view::compare::{Column, Entry, GroupBy, Sort, entries, shown};
use shared::base::format;
use std::rc::Rc;
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// What the [`Table`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct TableProps {
    /// The difference, once it is there.
    pub(super) comparison: Option<Rc<Comparison>>,
    /// A stack was picked, by position in the difference.
    pub(super) on_pick: Callback<usize>,
}

/// The table with its controls.
#[component]
pub(super) fn Table(props: &TableProps) -> Html {
    let by = use_state_eq(GroupBy::default);
    let sort = use_state_eq(Sort::default);
    let filter = use_state_eq(String::new);
    let all = use_memo((props.comparison.clone(), *by), |(comparison, by)| {
        comparison.as_ref().map_or_else(Vec::new, |comparison| entries(&comparison.diff, *by))
    });
    let order = use_memo((all.clone(), (*filter).clone(), *sort), |(all, filter, sort)| shown(all, filter, *sort));
    let oninput = {
        let filter = filter.setter();
        move |event: InputEvent| filter.set(event.target_unchecked_into::<HtmlInputElement>().value())
    };
    let group = |this: GroupBy| {
        let setter = by.setter();
        let onclick = move |_: MouseEvent| setter.set(this);
        html! {
            <button type="button" {onclick} aria-pressed={(*by == this).to_string()}>{ this.label() }</button>
        }
    };
    let on_sort = {
        let (setter, sort) = (sort.setter(), *sort);
        Callback::from(move |column: Column| setter.set(sort.after(column)))
    };
    html! {
        <section class="compare-table" aria-label="What differs">
            <div class="compare-tools">
                <div class="segmented" role="group" aria-label="Group by">{ for GroupBy::ALL.map(group) }</div>
                <input type="search" class="compare-filter" placeholder="Filter" aria-label="Filter" value={(*filter).clone()}
                    {oninput} />
                <span class="compare-count numbers" role="status">{ count_text(props, &all, order.len()) }</span>
            </div>
            <Rows {all} {order} sort={*sort} {on_sort} on_pick={props.on_pick.clone()}
                empty={empty_text(props, &filter)} />
        </section>
    }
}

fn count_text(props: &TableProps, all: &[Entry], shown: usize) -> String {
    match (&props.comparison, shown == all.len()) {
        (None, _) => String::new(),
        (_, true) => format::counted(shown as u64, "difference"),
        (_, false) => format!("{} of {}", format::count(shown as u64), format::count(all.len() as u64)),
    }
}

fn empty_text(props: &TableProps, filter: &str) -> AttrValue {
    match (&props.comparison, filter) {
        (None, _) => "Comparing…".into(),
        (_, "") => "Both sides hold the same".into(),
        _ => "Nothing that differs has this in its name".into(),
    }
}
