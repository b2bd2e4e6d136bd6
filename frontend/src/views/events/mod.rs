//! Dock tab with all events of a device, which follows the moment under the pointer, and with all about the chosen one.

pub mod model;

use self::model::{HEADS, Row, event_of_moment, event_of_text, facts, row};
use crate::ask::{Axis, EventDetails, GetEvent, GetEvents};
use crate::components::{IconName, StackView, bound, empty, fact, icon, is_checked, passing, text_of};
use crate::draw::row_after;
use crate::hooks::{FileHandle, Seen, use_asked, use_file, use_long_list, use_room, use_shown};
use crate::state::{Choice, EventsChoice, FileAction, TimelineCommand};
use std::rc::Rc;
use yew::prelude::*;

/// Events requested before the list has reported which ones are in view: the first one and their number.
const FIRST_EVENTS: (u32, u32) = (0, 64);

#[derive(Clone, PartialEq, Properties)]
pub(super) struct EventsViewProps {
    pub(super) seen: Option<Seen>,
    pub(super) cursor: Option<u32>,
}

#[component]
pub(super) fn EventsView(props: &EventsViewProps) -> Html {
    let EventsViewProps { seen, cursor } = *props;
    let (file, shown) = (use_file(), use_shown());
    let (choice, events, device) = (shown.ready.choices.events, shown.events(), shown.device.device);
    let window = use_state_eq(|| FIRST_EVENTS);
    let (first, count) = *window;
    let page = use_asked(Some(GetEvents { device, first, count }));
    let rows =
        use_memo(page.clone(), |page| page.iter().flat_map(|page| page.lines.iter().map(row)).collect::<Vec<_>>());
    let details = use_asked(choice.event.map(|event| GetEvent { device, event }));
    let details = details.filter(|details| Some(details.report.line.event) == choice.event);
    let focus = use_focus(choice, cursor, events);
    let on_window = use_callback(window.setter(), |wanted: (u32, u32), window| window.set(wanted));
    let on_choose = bound(file.clone(), move |file, event: u32| choose(file, choice, seen, event));
    html! {
        <div class="dock-view">
            { controls(&file, choice, events, &on_choose) }
            <div class="events">
                <List first={page.as_ref().map_or(0, |page| page.first)} {rows} {events} chosen={choice.event}
                    {focus} {on_window} {on_choose} />
                if let Some(details) = details {
                    { event_card(&file, &details) }
                } else {
                    { empty("Move the pointer over the timeline to scroll the list; choose an event to see its stack") }
                }
            </div>
        </div>
    }
}

/// Returns the event that the list is scrolled to: the last one that was chosen here or pointed at in the timeline.
#[hook]
fn use_focus(choice: EventsChoice, cursor: Option<u32>, events: u32) -> Option<u32> {
    let pointed = cursor.filter(|_| choice.follows).and_then(|moment| event_of_moment(moment, events));
    let focus = use_state_eq(|| choice.event.or(pointed));
    let follow = |focus: UseStateSetter<Option<u32>>| {
        move |event: &Option<u32>| event.iter().for_each(|&event| focus.set(Some(event)))
    };
    use_effect_with(choice.event, follow(focus.setter()));
    use_effect_with(pointed, follow(focus.setter()));
    focus.filter(|&event| event < events)
}

/// Shows an event and its moment in the timeline, which moves only if the moment is out of view.
fn choose(file: &FileHandle, choice: EventsChoice, seen: Option<Seen>, event: u32) {
    file.choose(Choice::Events(EventsChoice { event: Some(event), ..choice }));
    let moment = event + 1;
    let is_in_view = seen.is_none_or(|seen| match &seen.range {
        None => true,
        Some(view) => seen.axis == Axis::Events && (view.x.start..view.x.end).contains(&f64::from(moment)),
    });
    if !is_in_view {
        file.command(TimelineCommand::JumpTo { moment });
    }
}

fn controls(file: &FileHandle, choice: EventsChoice, events: u32, on_choose: &Callback<u32>) -> Html {
    let on_follow =
        file.choosing(move |event: Event| Choice::Events(EventsChoice { follows: is_checked(&event), ..choice }));
    let on_number = bound(on_choose.clone(), move |on_choose, event: Event| {
        event_of_text(&text_of(&event), events).iter().for_each(|&event| on_choose.emit(event))
    });
    html! {
        <div class="scope-bar">
            <div class="scope-line">
                <label class="check">
                    <input type="checkbox" checked={choice.follows} onchange={on_follow} />{ "Follow the pointer" }
                </label>
                <label class="events-number">
                    { "Go to event" }
                    <input type="text" inputmode="numeric" autocomplete="off" onchange={on_number}
                        value={choice.event.map(|event| event.to_string()).unwrap_or_default()} />
                </label>
            </div>
        </div>
    }
}

fn event_card(file: &FileHandle, EventDetails { report, hit }: &EventDetails) -> Html {
    let row = row(&report.line);
    let title = format!("Event {}: {}", row.cells[0], row.action);
    let onclick = file.clicked(FileAction::Pin(hit.clone()));
    html! {
        <article class="event-card" aria-label={title.clone()} data-event={report.line.event.to_string()}>
            <header class="event-head">
                <h3>{ title }</h3>
                if hit.is_some() {
                    <button type="button" class="button" {onclick}>
                        { icon(IconName::Pin) }{ "Pin its allocation" }
                    </button>
                }
            </header>
            <dl class="facts">{ for facts(report).iter().map(|(name, value)| fact(name, value, "")) }</dl>
            if report.frames.is_empty() {
                { empty("No stack was recorded for this event") }
            } else {
                <StackView title="Stack" frames={Rc::new(report.frames.clone())} />
            }
        </article>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct ListProps {
    first: u32,
    rows: Rc<Vec<Row>>,
    events: u32,
    chosen: Option<u32>,
    /// Event that the list is scrolled to when it changes.
    focus: Option<u32>,
    /// Called when other rows are needed, with the first event and the number of events.
    on_window: Callback<(u32, u32)>,
    on_choose: Callback<u32>,
}

/// Shows the events in their order; the arrow keys choose the next or the previous one.
#[component]
fn List(props: &ListProps) -> Html {
    let pane = use_node_ref();
    let room_px = use_room(&pane);
    let list = use_long_list(pane, props.events, room_px);
    let wanted = list.scrolling.wanted(list.top);
    use_effect_with((wanted, props.on_window.clone()), |(wanted, on_window)| on_window.emit(*wanted));
    // The row comes into view with the least scrolling if it is close, otherwise to the middle.
    let moved = list.clone();
    use_effect_with((props.focus, room_px > 0.0), move |&(focus, has_room)| {
        let Some(row) = focus.filter(|_| has_room) else { return };
        let (top, visible) = (moved.top, moved.scrolling.visible());
        let is_near = row + visible > top && row < top + 2 * visible;
        moved.scroll_to(match is_near {
            true => moved.scrolling.first_with(row, top),
            false => row.saturating_sub(visible / 2),
        });
    });
    let (current, scrolling) = (props.chosen.or(props.focus), list.scrolling);
    let onkeydown = bound(props.on_choose.clone(), move |on_choose, event: KeyboardEvent| {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        if let Some(row) = row_after(&event.key(), current, &scrolling) {
            on_choose.emit(row);
            // The timeline would pan, and the browser would scroll.
            event.prevent_default();
            event.stop_propagation();
        }
    });
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
    let onclick = passing(&props.on_choose, event);
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
