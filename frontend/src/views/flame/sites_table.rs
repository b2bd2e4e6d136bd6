//! Table of all functions; only the rows in view are in the document.

use crate::ask::site_table::{SiteColumn, SiteLine, SiteOrder, lines, shown};
use crate::ask::{FlameSites, NameMark, SiteKey, Weight};
use std::rc::Rc;
use web_sys::HtmlElement;
use yew::prelude::*;

/// Height of a row in CSS pixels; must match the style sheet.
const ROW: usize = 28;

/// Number of rows rendered above and below those in view, so that fast scrolling finds them drawn.
const SPARE: usize = 12;

/// Number of rows rendered before the first scroll.
const FIRST: usize = 40;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct SitesTableProps {
    pub(super) sites: Rc<FlameSites>,
    /// Weight of the totals.
    pub(super) weight: Weight,
    /// Search text, empty if nothing is searched.
    pub(super) search: AttrValue,
    pub(super) chosen: Option<SiteKey>,
    pub(super) on_choose: Callback<NameMark>,
    pub(super) order: SiteOrder,
    /// Called with the new order when the head of a column is clicked.
    pub(super) on_order: Callback<SiteOrder>,
}

/// Shows the sites with their totals; a click on a column's head sorts by it.
#[component]
pub(super) fn SitesTable(props: &SitesTableProps) -> Html {
    let order = props.order;
    let seen = use_state_eq(|| 0..FIRST);
    let rows = use_memo((props.sites.clone(), order, props.search.clone()), |(sites, order, search)| {
        shown(sites, *order, search)
    });
    let onscroll = {
        let seen = seen.setter();
        move |event: Event| {
            let table: HtmlElement = event.target_unchecked_into();
            let first = (table.scroll_top().max(0) as usize) / ROW;
            let count = (table.client_height().max(0) as usize) / ROW + 1;
            seen.set(first.saturating_sub(SPARE)..first + count + SPARE);
        }
    };
    let range = seen.start.min(rows.len())..seen.end.min(rows.len());
    let head = |column: SiteColumn| {
        let onclick = props.on_order.reform(move |_: MouseEvent| order.clicked(column));
        html! {
            <th scope="col" aria-sort={sorted(order, column)} class={class_of(column)}>
                <button type="button" {onclick}>{ label(column) }</button>
            </th>
        }
    };
    let line = |line: SiteLine| row(line, props.chosen, &props.on_choose);
    html! {
        <div class="flame-table" {onscroll} data-sites={rows.len().to_string()} tabindex="0" role="region"
            aria-label="Functions">
            <table aria-rowcount={(rows.len() + 1).to_string()}>
                <thead><tr>{ for SiteColumn::ALL.map(head) }</tr></thead>
                <tbody>
                    { spacer(range.start) }
                    { for lines(&props.sites, &rows, range.clone(), props.weight).into_iter().map(line) }
                    { spacer(rows.len() - range.end) }
                </tbody>
            </table>
            if rows.is_empty() {
                <p class="panel-empty">{ "No function or file matches the search" }</p>
            }
        </div>
    }
}

fn row(line: SiteLine, chosen: Option<SiteKey>, on_choose: &Callback<NameMark>) -> Html {
    let (key, mark) = (line.key, line.mark);
    let is_chosen = chosen == Some(key);
    let onclick = on_choose.reform(move |_: MouseEvent| mark);
    html! {
        <tr key={key.map_or(-1, i64::from)} class={classes!(is_chosen.then_some("chosen"))} onclick={onclick.clone()}>
            <td class="number numbers">
                <svg class="flame-share" aria-hidden="true"><rect width={format!("{:.2}%", line.share)} height="100%" /></svg>
                { line.total }
            </td>
            <td class="number numbers">{ line.own }</td>
            <td class="number numbers">{ line.count }</td>
            <td class="name">
                <button type="button" aria-pressed={is_chosen.to_string()} {onclick}>{ line.name }</button>
                <span class="flame-place">{ line.place }</span>
            </td>
        </tr>
    }
}

/// Returns a row as high as `rows` rows that are not in the document.
fn spacer(rows: usize) -> Html {
    if rows == 0 {
        return Html::default();
    }
    html! {
        <tr class="spacer" aria-hidden="true"><td colspan="4"><svg width="1" height={(rows * ROW).to_string()} /></td></tr>
    }
}

fn label(column: SiteColumn) -> &'static str {
    match column {
        SiteColumn::Name => "Function",
        SiteColumn::Total => "Total",
        SiteColumn::Own => "Self",
        SiteColumn::Count => "Allocations",
    }
}

fn class_of(column: SiteColumn) -> Option<&'static str> {
    (column != SiteColumn::Name).then_some("number")
}

fn sorted(order: SiteOrder, column: SiteColumn) -> Option<&'static str> {
    let direction = if order.is_descending { "descending" } else { "ascending" };
    (order.column == column).then_some(direction)
}
