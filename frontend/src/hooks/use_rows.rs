//! Hooks for tables of any length, of which only the rows on the screen are in the document, and for a timeline at
//! rest.

use super::view_link::Seen;
use crate::draw::scrolling::Scrolling;
use crate::platform::{ResizeListener, set_style, size_of_element};
use gloo_timers::callback::Timeout;
use std::cell::RefCell;
use std::ops::Range;
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

/// A list of any length in an element that scrolls.
#[derive(Clone)]
pub struct LongList {
    pub pane: NodeRef,
    /// The element below the rows, whose height makes the scroll bar fit the list.
    pub spacer: NodeRef,
    pub scrolling: Scrolling,
    /// First row on the screen.
    pub top: u32,
    pub onscroll: Callback<Event>,
    first: UseStateSetter<u32>,
    /// Scroll position that was set by [`Self::scroll_to`].
    set_px: Rc<RefCell<i32>>,
}

impl LongList {
    pub fn rows(&self) -> Range<u32> {
        self.top..(self.top + self.scrolling.visible() + 1).min(self.scrolling.row_count)
    }

    /// Makes a row the first one on the screen.
    pub fn scroll_to(&self, first: u32) {
        self.first.set(first);
        if let Some(pane) = self.pane.cast::<HtmlElement>() {
            pane.set_scroll_top(self.scrolling.scrolled_px(first) as i32);
            *self.set_px.borrow_mut() = pane.scroll_top();
        }
    }
}

/// Follows the scrolling of a list with room for rows of `room_px` CSS pixels.
#[hook]
pub fn use_long_list(pane: NodeRef, row_count: u32, room_px: f64) -> LongList {
    let spacer = use_node_ref();
    let first = use_state_eq(|| 0_u32);
    let set_px = use_mut_ref(|| 0_i32);
    let scrolling = Scrolling { row_count, room_px };
    // A shorter list may end above the row that was the first one.
    let top = (*first).min(scrolling.first(f64::MAX));
    use_effect_with((spacer.clone(), scrolling.spacer_px()), |(spacer, height_px)| {
        if let Some(spacer) = spacer.cast::<HtmlElement>() {
            set_style(&spacer, "height", &format!("{height_px:.0}px"));
        }
    });
    let onscroll = {
        let (first, set_px) = (first.setter(), Rc::clone(&set_px));
        Callback::from(move |event: Event| {
            let pane: HtmlElement = event.target_unchecked_into();
            // In a very long list the position is rounded, so the event that setting it causes must be ignored.
            if pane.scroll_top() != *set_px.borrow() {
                *set_px.borrow_mut() = -1;
                first.set(scrolling.first(f64::from(pane.scroll_top())));
            }
        })
    };
    LongList { pane, spacer, scrolling, top, onscroll, first: first.setter(), set_px }
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
