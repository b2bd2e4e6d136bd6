//! Fragmentation and stalls over the events, with a range of events that can be chosen and read out.

use super::model::{Course, HEIGHT, WIDTH, course, moved, reading};
use super::plot::tick;
use crate::ask::ReplayData;
use crate::platform;
use std::ops::Range;
use web_sys::HtmlElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct CourseRowsProps {
    /// Result of the replay, with the recording to compare with.
    pub(super) data: ReplayData,
}

/// Shows, below the curves, the bytes reserved beyond the live bytes, and each stall.
///
/// A range of the events is chosen by dragging or by the arrow keys, and read out below.
#[component]
pub(super) fn CourseRows(props: &CourseRowsProps) -> Html {
    let rows = use_memo(props.data.clone(), course);
    let part = use_state_eq(|| None::<Range<usize>>);
    let from = use_mut_ref(|| None::<usize>);
    let node = use_node_ref();
    let columns = props.data.columns.len();
    let column_at = {
        let node = node.clone();
        move |event: &PointerEvent| {
            let element = node.cast::<HtmlElement>()?;
            let (x, _) = platform::point_in(&element, event.client_x().into(), event.client_y().into());
            let (width, _) = platform::size_of_element(&element);
            // A captured pointer may leave the rows on either side.
            let column = x / width.max(1.0) * columns as f64;
            (columns > 0).then(|| column.clamp(0.0, columns as f64 - 1.0) as usize)
        }
    };
    let onpointerdown = {
        let (part, from, node, column_at) = (part.setter(), from.clone(), node.clone(), column_at.clone());
        move |event: PointerEvent| {
            if let Some(element) = node.cast::<HtmlElement>() {
                // Capturing may fail; the drag then only ends where the pointer leaves the rows.
                let _ = element.set_pointer_capture(event.pointer_id());
            }
            *from.borrow_mut() = column_at(&event);
            part.set(None);
        }
    };
    let onpointermove = {
        let (part, from) = (part.setter(), from.clone());
        move |event: PointerEvent| {
            if let (Some(first), Some(last)) = (*from.borrow(), column_at(&event))
                && first != last
            {
                part.set(Some(first.min(last)..first.max(last) + 1));
            }
        }
    };
    let onpointerup = move |_: PointerEvent| *from.borrow_mut() = None;
    let onkeydown = {
        let part = part.clone();
        move |event: KeyboardEvent| {
            let Some(next) = moved((*part).clone(), columns, &event.key(), event.shift_key()) else { return };
            event.prevent_default();
            event.stop_propagation();
            part.set(next);
        }
    };
    let chosen = (*part).clone().filter(|part| part.end <= columns);
    html! {
        <figure class="what-if-course">
            <div ref={node} class="what-if-rows" tabindex="0" role="group" aria-describedby="what-if-reading"
                aria-label="Fragmentation and stalls over the events. Arrow keys select a range, Shift and arrow keys change \
                            its length, and Escape selects all events."
                aria-keyshortcuts="ArrowLeft ArrowRight Home End Escape"
                {onpointerdown} {onpointermove} onpointercancel={onpointerup.clone()} {onpointerup} {onkeydown}>
                { fragmentation(&rows, chosen.as_ref(), columns) }
                { stalls(&rows, chosen.as_ref(), columns) }
            </div>
            <p id="what-if-reading" class="what-if-reading numbers" role="status">
                { reading(&props.data, chosen.as_ref()) }
            </p>
            { legend(&rows) }
        </figure>
    }
}

fn fragmentation(rows: &Course, part: Option<&Range<usize>>, columns: usize) -> Html {
    html! {
        <>
            <span class="what-if-row-label">{ "Reserved minus live" }</span>
            <svg class="what-if-fragmentation" aria-hidden="true">
                { for rows.ticks.iter().map(tick) }
                <svg viewBox={format!("0 0 {WIDTH} {HEIGHT}")} preserveAspectRatio="none">
                    { part_of(part, columns) }
                    <path class="what-if-recorded" d={rows.recorded.clone()} />
                    <path class="what-if-replayed" d={rows.replayed.clone()} />
                </svg>
            </svg>
        </>
    }
}

fn stalls(rows: &Course, part: Option<&Range<usize>>, columns: usize) -> Html {
    html! {
        <>
            <span class="what-if-row-label">{ "Stalls: recorded above, replayed below" }</span>
            <svg class="what-if-stalls" aria-hidden="true" viewBox={format!("0 0 {WIDTH} {HEIGHT}")}
                preserveAspectRatio="none">
                { part_of(part, columns) }
                <path class="what-if-recorded-calls" data-calls="recorded" d={rows.recorded_calls.clone()} />
                <path class="what-if-replayed-calls" d={rows.replayed_calls.clone()} />
                <path class="what-if-collections" d={rows.collections.clone()} />
                <path class="what-if-retries" d={rows.retries.clone()} />
                <path class="what-if-ooms" d={rows.recorded_ooms.clone()} />
                <path class="what-if-ooms" d={rows.replayed_ooms.clone()} />
            </svg>
        </>
    }
}

/// Returns the background of the chosen range.
fn part_of(part: Option<&Range<usize>>, columns: usize) -> Html {
    let Some(part) = part else { return Html::default() };
    let x = |column: usize| column as f64 / columns.max(1) as f64 * WIDTH;
    html! {
        <rect class="what-if-part" data-range="" x={format!("{:.1}", x(part.start))} y="0"
            width={format!("{:.1}", x(part.end) - x(part.start))} height={HEIGHT.to_string()} />
    }
}

fn legend(rows: &Course) -> Html {
    let has_ooms = !rows.recorded_ooms.is_empty() || !rows.replayed_ooms.is_empty();
    html! {
        <figcaption class="what-if-legend">
            <span class="what-if-key-recorded">{ "Recorded" }</span>
            <span class="what-if-key-replayed">{ "Replayed" }</span>
            if !rows.retries.is_empty() { <span class="what-if-key-retries">{ "Whole cache released" }</span> }
            if !rows.collections.is_empty() { <span class="what-if-key-collections">{ "Garbage collected" }</span> }
            if has_ooms { <span class="what-if-key-ooms">{ "Out of memory" }</span> }
        </figcaption>
    }
}
