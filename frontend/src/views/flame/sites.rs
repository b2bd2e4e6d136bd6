//! Table of all functions, with the callers and callees of the chosen one; only the rows in view are in the document.

use super::canvas::FlameCanvas;
use super::stage::{Chosen, Told};
use crate::ask::site_table::{SiteColumn, SiteLine, SiteOrder, lines, marked, shown};
use crate::ask::{FlameShape, FlameSites, FlameSource, FlameTree, GetSites, NameMark, SiteKey, Weight};
use crate::components::{bound, empty, passing};
use crate::hooks::{use_answer, use_subject};
use crate::state::Rootward;
use crate::views::selection::use_latest;
use std::rc::Rc;
use web_sys::HtmlElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct SitesProps {
    pub(super) source: FlameSource,
    pub(super) search: AttrValue,
    pub(super) site: Option<NameMark>,
    pub(super) on_site: Callback<NameMark>,
    pub(super) order: SiteOrder,
    pub(super) on_order: Callback<SiteOrder>,
    /// Called when a box is chosen, and with `None` when none is chosen any more.
    pub(super) on_chosen: Callback<Option<Chosen>>,
    pub(super) on_told: Callback<Told>,
}

/// Shows the table, and next to it the graph of callers above that of callees.
#[component]
pub(super) fn Sites(props: &SitesProps) -> Html {
    let (client, device) = use_subject();
    let answer = use_answer((client, device, props.source.clone()), |(client, device, source)| async move {
        Ok(client.ask(GetSites { device, source }).await?.map(Rc::new))
    });
    let readable = use_latest(answer.as_deref().and_then(|answer| answer.as_ref().ok()).cloned());
    use_effect_with((props.on_told.clone(), answer), |(on_told, answer)| {
        let error = answer.as_deref().and_then(|answer| answer.as_ref().err()).cloned();
        on_told.emit(Told { found: None, error: error.map(AttrValue::from) });
    });
    let Some(sites) = readable else {
        return html! { <p class="panel-empty flame-sites">{ "Computing totals…" }</p> };
    };
    let site = props.site.and_then(|site| marked(&sites, site));
    let half = |shape: FlameShape, rootward: Rootward, title: &'static str| {
        let tree = FlameTree { source: props.source.clone(), shape, by_appearance: false };
        html! {
            <section class="flame-half" aria-label={title}>
                <h2>{ title }</h2>
                <FlameCanvas {tree} search="" {rootward} label={title} place={u8::from(rootward == Rootward::Up)}
                    on_chosen={props.on_chosen.clone()} />
            </section>
        }
    };
    html! {
        <div class="flame-sites">
            <SitesTable {sites} weight={props.source.selection.weight} search={props.search.clone()}
                chosen={site} on_choose={props.on_site.clone()} order={props.order} on_order={props.on_order.clone()} />
            <div class="flame-sandwich">
                if let Some(key) = site {
                    { half(FlameShape::Callers(key), Rootward::Down, "Callers") }
                    { half(FlameShape::Callees(key), Rootward::Up, "Callees") }
                } else {
                    { empty("Choose a function to see its callers and callees") }
                }
            </div>
        </div>
    }
}

/// Height of a row in CSS pixels; must match the style sheet.
const ROW: usize = 28;

/// Number of rows rendered above and below those in view, so that fast scrolling finds them drawn.
const SPARE: usize = 12;

/// Number of rows rendered before the first scroll.
const FIRST: usize = 40;

#[derive(Clone, PartialEq, Properties)]
struct SitesTableProps {
    sites: Rc<FlameSites>,
    weight: Weight,
    search: AttrValue,
    chosen: Option<SiteKey>,
    on_choose: Callback<NameMark>,
    order: SiteOrder,
    on_order: Callback<SiteOrder>,
}

#[component]
fn SitesTable(props: &SitesTableProps) -> Html {
    let order = props.order;
    let seen = use_state_eq(|| 0..FIRST);
    let rows = use_memo((props.sites.clone(), order, props.search.clone()), |(sites, order, search)| {
        shown(sites, *order, search)
    });
    let onscroll = bound(seen.setter(), move |seen, event: Event| {
        let table: HtmlElement = event.target_unchecked_into();
        let first = (table.scroll_top().max(0) as usize) / ROW;
        let count = (table.client_height().max(0) as usize) / ROW + 1;
        seen.set(first.saturating_sub(SPARE)..first + count + SPARE);
    });
    let range = seen.start.min(rows.len())..seen.end.min(rows.len());
    let head = |column: SiteColumn| {
        let onclick = passing(&props.on_order, order.after(column));
        let (label, class) = match column {
            SiteColumn::Name => ("Function", None),
            SiteColumn::Total => ("Total", Some("number")),
            SiteColumn::Own => ("Self", Some("number")),
            SiteColumn::Count => ("Allocations", Some("number")),
        };
        html! {
            <th scope="col" aria-sort={(order.column == column).then(|| order.aria(column))} {class}>
                <button type="button" {onclick}>{ label }</button>
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
            if rows.is_empty() { { empty("No function or file matches the search") } }
        </div>
    }
}

fn row(line: SiteLine, chosen: Option<SiteKey>, on_choose: &Callback<NameMark>) -> Html {
    let (key, mark) = (line.key, line.mark);
    let is_chosen = chosen == Some(key);
    let onclick = passing(on_choose, mark);
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
