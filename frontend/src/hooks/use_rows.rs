//! Hooks for tables of any length, of which only the rows on the screen are in the document, and for a timeline at
//! rest.

use super::view_link::Seen;
use crate::platform::{ResizeListener, set_style, size_of_element};
use gloo_timers::callback::Timeout;
use std::cell::RefCell;
use std::rc::Rc;
use web_sys::HtmlElement;
use yew::prelude::*;

/// Height of the column heads in CSS pixels; must match the style sheet.
const HEAD_PX: f64 = 30.0;

/// Returns the height available for rows in CSS pixels; it follows the element's size.
#[hook]
pub fn use_room(pane: &NodeRef) -> f64 {
    let room_px = use_state_eq(|| 0.0);
    use_effect_with(pane.clone(), {
        let room_px = room_px.setter();
        move |pane| {
            let pane = pane.cast::<HtmlElement>();
            let measured = pane.clone();
            let measure = move || {
                let height_px = measured.as_ref().map_or(0.0, |pane| size_of_element(pane).1);
                room_px.set((height_px - HEAD_PX).max(0.0));
            };
            measure();
            let listener = pane.and_then(|pane| ResizeListener::new(&pane, measure));
            move || drop(listener)
        }
    });
    *room_px
}

/// Gives the element below the rows the height that makes the scroll bar fit the table.
#[hook]
pub fn use_spacer(spacer: &NodeRef, height_px: f64) {
    use_effect_with((spacer.clone(), height_px), |(spacer, height_px)| {
        if let Some(spacer) = spacer.cast::<HtmlElement>() {
            set_style(&spacer, "height", &format!("{height_px:.0}px"));
        }
    });
}

/// Time without movement after which values that depend on the view are recomputed, in milliseconds.
const REST_MS: u32 = 150;

/// Returns the last view that came to rest, and the callback that receives every view.
#[hook]
pub fn use_settled() -> (UseStateHandle<Option<Seen>>, Callback<Seen>) {
    let settled = use_state_eq(|| None);
    let due = use_memo((), |()| RefCell::<Option<Timeout>>::default());
    let on_view = {
        let (settled, due) = (settled.setter(), Rc::clone(&due));
        use_callback((), move |view: Seen, ()| {
            let settled = settled.clone();
            *due.borrow_mut() = Some(Timeout::new(REST_MS, move || settled.set(Some(view))));
        })
    };
    (settled, on_view)
}
