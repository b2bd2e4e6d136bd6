//! Table of differences, with sorting, a filter and grouping.

use super::hook::Comparison;
use super::rows::Rows;
use crate::ask::DiffBy;
use crate::ask::differences::{Column, Entry, entries, shown};
use crate::hooks::{use_file, use_shown};
use crate::state::{Choice, DifferencesChoice};
use shared::base::format;
use std::rc::Rc;
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct TableProps {
    /// The difference; `None` until it has arrived.
    pub(super) comparison: Option<Rc<Comparison>>,
    /// Called with the position of the picked stack in the difference.
    pub(super) on_pick: Callback<usize>,
    /// Buttons that save the table.
    pub(super) files: Html,
}

/// Shows the table with its controls.
#[component]
pub(super) fn Table(props: &TableProps) -> Html {
    let on_differences = use_file().choosing(Choice::Differences);
    let choice = use_shown().ready.choices.differences.clone();
    let DifferencesChoice { by, sort, filter } = choice.clone();
    let all = use_memo((props.comparison.clone(), by), |(comparison, by)| {
        comparison.as_ref().map_or_else(Vec::new, |comparison| entries(&comparison.diff, *by))
    });
    let order = use_memo((all.clone(), filter.clone(), sort), |(all, filter, sort)| shown(all, filter, *sort));
    let oninput = {
        let choice = choice.clone();
        on_differences.reform(move |event: InputEvent| {
            let filter = event.target_unchecked_into::<HtmlInputElement>().value();
            DifferencesChoice { filter, ..choice.clone() }
        })
    };
    let group = |this: DiffBy| {
        let choice = choice.clone();
        let onclick = on_differences.reform(move |_: MouseEvent| DifferencesChoice { by: this, ..choice.clone() });
        html! {
            <button type="button" {onclick} aria-pressed={(by == this).to_string()}>{ label(this) }</button>
        }
    };
    let on_sort = {
        let choice = choice.clone();
        on_differences.reform(move |column: Column| DifferencesChoice { sort: sort.after(column), ..choice.clone() })
    };
    html! {
        <section class="compare-table" aria-label="Differences">
            <div class="compare-tools">
                <div class="segmented" role="group" aria-label="Group by">{ for DiffBy::ALL.map(group) }</div>
                <input type="search" class="compare-filter" placeholder="Filter" aria-label="Filter" value={filter.clone()}
                    {oninput} />
                <span class="compare-count numbers" role="status">{ count_text(props, &all, order.len()) }</span>
                { props.files.clone() }
            </div>
            <Rows {all} {order} {sort} {on_sort} on_pick={props.on_pick.clone()}
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
        (_, "") => "Both sides are the same".into(),
        _ => "No difference matches the filter".into(),
    }
}

fn label(by: DiffBy) -> &'static str {
    match by {
        DiffBy::Stack => "Stack",
        DiffBy::Category => "Category",
        DiffBy::Module => "Module",
    }
}
