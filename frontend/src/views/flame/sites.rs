//! Table of all functions, with the callers and callees of the chosen one.

use super::canvas::FlameCanvas;
use super::hook::use_flame_sites;
use super::props::{Chosen, Told};
use super::sites_table::SitesTable;
use crate::ask::site_table::{SiteOrder, marked};
use crate::ask::{FlameShape, FlameSites, FlameSource, FlameTree, NameMark};
use crate::state::Rootward;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct SitesProps {
    /// Allocations that are summed up.
    pub(super) source: FlameSource,
    /// Search text, empty if nothing is searched.
    pub(super) search: AttrValue,
    pub(super) site: Option<NameMark>,
    pub(super) on_site: Callback<NameMark>,
    pub(super) order: SiteOrder,
    pub(super) on_order: Callback<SiteOrder>,
    /// Called when a box is chosen, and with `None` when none is chosen any more.
    pub(super) on_chosen: Callback<Option<Chosen>>,
    /// Called with the outcome of each request.
    pub(super) on_told: Callback<Told>,
}

/// Shows the table, and next to it the graph of callers above that of callees.
#[component]
pub(super) fn Sites(props: &SitesProps) -> Html {
    let answer = use_flame_sites(&props.source);
    let readable = use_mut_ref(|| None::<Rc<FlameSites>>);
    // While the filter's text cannot be read, the table shows the previous result.
    if let Some(Ok(sites)) = answer.as_deref() {
        *readable.borrow_mut() = Some(sites.clone());
    }
    use_effect_with((props.on_told.clone(), answer), |(on_told, answer)| {
        let error = answer.as_deref().and_then(|answer| answer.as_ref().err()).cloned();
        on_told.emit(Told { found: None, error: error.map(AttrValue::from) });
    });
    let Some(sites) = readable.borrow().clone() else {
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
                    <p class="panel-empty">{ "Choose a function to see its callers and callees" }</p>
                }
            </div>
        </div>
    }
}
