//! Fragmentation and driver calls over the events, with a range of events that can be chosen and read out.

use super::model::{column_at, fragmentation, moved, occurring, reading, stalls};
use crate::ask::ReplayData;
use crate::components::Picture;
use crate::hooks::use_file;
use crate::platform;
use std::ops::Range;
use web_sys::HtmlElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct CourseRowsProps {
    pub(super) data: ReplayData,
}

/// Shows, below the curves, the bytes reserved beyond the live bytes, and each stall.
///
/// A range of the events is chosen by dragging or by the arrow keys, and read out below.
#[component]
pub(super) fn CourseRows(props: &CourseRowsProps) -> Html {
    let part = use_state_eq(|| None::<Range<usize>>);
    let from = use_mut_ref(|| None::<usize>);
    let node = use_node_ref();
    let columns = props.data.columns.len();
    let pointed = {
        let node = node.clone();
        move |event: &PointerEvent| {
            let element = node.cast::<HtmlElement>()?;
            let (x, _) = platform::point_in(&element, event.client_x().into(), event.client_y().into());
            let (width, _) = platform::size_of_element(&element);
            // A captured pointer may leave the rows on either side.
            column_at(x, width, columns)
        }
    };
    let onpointerdown = {
        let (part, from, node, pointed) = (part.setter(), from.clone(), node.clone(), pointed.clone());
        move |event: PointerEvent| {
            if let Some(element) = node.cast::<HtmlElement>() {
                // Capturing may fail; the drag then only ends where the pointer leaves the rows.
                let _ = element.set_pointer_capture(event.pointer_id());
            }
            *from.borrow_mut() = pointed(&event);
            part.set(None);
        }
    };
    let onpointermove = {
        let (part, from) = (part.setter(), from.clone());
        move |event: PointerEvent| {
            if let (Some(first), Some(last)) = (*from.borrow(), pointed(&event))
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
    let drawn = (props.data.clone(), chosen.clone(), use_file().scheme);
    let draw_fragmentation = use_callback(drawn.clone(), |size, (data, chosen, scheme)| {
        fragmentation(data, chosen.as_ref(), size, scheme.theme())
    });
    let draw_stalls =
        use_callback(drawn, |size, (data, chosen, scheme)| stalls(data, chosen.as_ref(), size, scheme.theme()));
    let spoken = chosen.as_ref().map(|part| format!("{}..{}", part.start, part.end));
    html! {
        <figure class="what-if-course">
            <div ref={node} class="what-if-rows" tabindex="0" role="group" aria-describedby="what-if-reading"
                aria-label="Fragmentation and driver calls over the events. Arrow keys select a range, Shift and arrow keys change \
                            its length, and Escape selects all events."
                aria-keyshortcuts="ArrowLeft ArrowRight Home End Escape" data-part={spoken}
                {onpointerdown} {onpointermove} onpointercancel={onpointerup.clone()} {onpointerup} {onkeydown}>
                <span class="what-if-row-label">{ "Reserved minus live" }</span>
                <Picture class="what-if-fragmentation" draw={draw_fragmentation} />
                <span class="what-if-row-label">{ "Stalls: recorded above, replayed below" }</span>
                <Picture class="what-if-stalls" draw={draw_stalls} />
            </div>
            <p id="what-if-reading" class="what-if-reading numbers" role="status">
                { reading(&props.data, chosen.as_ref()) }
            </p>
            <figcaption class="what-if-legend">
                <span class="what-if-key-recorded">{ "Recorded" }</span>
                <span class="what-if-key-replayed">{ "Replayed" }</span>
                { for occurring(&props.data).into_iter().map(|(class, name)| html! { <span {class}>{ name }</span> }) }
            </figcaption>
        </figure>
    }
}
