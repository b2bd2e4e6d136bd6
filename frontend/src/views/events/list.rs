//! List of events of any length; only the rows on the screen are in the document.

use super::model::{HEADS, Row};
use crate::draw::row_after;
use crate::hooks::{use_long_list, use_room};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct ListProps {
    /// Index of the first of `rows`.
    pub(super) first: u32,
    pub(super) rows: Rc<Vec<Row>>,
    pub(super) events: u32,
    pub(super) chosen: Option<u32>,
    /// Event that the list is scrolled to when it changes.
    pub(super) focus: Option<u32>,
    /// Called when other rows are needed, with the first event and the number of events.
    pub(super) on_window: Callback<(u32, u32)>,
    pub(super) on_choose: Callback<u32>,
}

/// Shows the events in their order; the arrow keys choose the next or the previous one.
#[component]
pub(super) fn List(props: &ListProps) -> Html {
    let pane = use_node_ref();
    let room_px = use_room(&pane);
    let list = use_long_list(pane, props.events, room_px);
    let wanted = list.scrolling.wanted(list.top);
    use_effect_with((wanted, props.on_window.clone()), |(wanted, on_window)| on_window.emit(*wanted));
    // The row comes into view with the least scrolling if it is close, otherwise to the middle.
    use_effect_with((props.focus, room_px > 0.0), {
        let list = list.clone();
        move |&(focus, has_room)| {
            let Some(row) = focus.filter(|_| has_room) else { return };
            let (top, visible) = (list.top, list.scrolling.visible());
            let is_near = row + visible > top && row < top + 2 * visible;
            list.scroll_to(match is_near {
                true => list.scrolling.first_with(row, top),
                false => row.saturating_sub(visible / 2),
            });
        }
    });
    let onkeydown = {
        let (on_choose, current, scrolling) = (props.on_choose.clone(), props.chosen.or(props.focus), list.scrolling);
        move |event: KeyboardEvent| {
            if event.ctrl_key() || event.meta_key() || event.alt_key() {
                return;
            }
            if let Some(row) = row_after(&event.key(), current, &scrolling) {
                on_choose.emit(row);
                // The timeline would pan, and the browser would scroll.
                event.prevent_default();
                event.stop_propagation();
            }
        }
    };
    html! {
        <div class="table events-table" ref={&list.pane} role="grid" tabindex="0" aria-label="Events"
            aria-rowcount={(u64::from(props.events) + 1).to_string()}
            aria-activedescendant={props.chosen.map(row_id)} onscroll={&list.onscroll} {onkeydown}>
            <div class="table-head" role="row" aria-rowindex="1">
                { for HEADS.map(|(name, label, hint)| html! {
                    <span role="columnheader" data-cell={name} title={hint}>{ label }</span>
                }) }
            </div>
            <div class="table-rows" role="rowgroup">
                { for list.rows().map(|event| line(props, event)) }
                if props.events == 0 { <p class="panel-empty">{ "No events were recorded" }</p> }
            </div>
            <div ref={&list.spacer}></div>
        </div>
    }
}

fn row_id(event: u32) -> String {
    format!("event-{event}")
}

fn line(props: &ListProps, event: u32) -> Html {
    let found = event.checked_sub(props.first).and_then(|index| props.rows.get(index as usize));
    let Some(row) = found else {
        return html! { <div key={event} class="table-row" role="row" aria-busy="true"><span role="gridcell">{ "…" }</span></div> };
    };
    let onclick = props.on_choose.reform(move |_: MouseEvent| event);
    let cells = HEADS.iter().zip(&row.cells).map(|((name, ..), text)| {
        html! { <span class="numbers" role="gridcell" data-cell={*name}>{ text }</span> }
    });
    html! {
        <div key={event} id={row_id(event)} class="table-row" role="row" aria-rowindex={(u64::from(event) + 2).to_string()}
            aria-selected={(props.chosen == Some(event)).to_string()} data-action={row.action}
            data-active={(props.focus == Some(event)).then_some("")} {onclick}>
            { for cells }
            <span class="table-title" role="gridcell" data-cell="stack" title={format!("{} {}", row.title, row.callers)}>
                { &row.title }
                if !row.callers.is_empty() { <span class="table-detail">{ " " }{ &row.callers }</span> }
            </span>
        </div>
    }
}
