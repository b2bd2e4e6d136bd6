//! Hook for the view of the timeline once it has stopped moving.

use super::view_link::Seen;
use gloo_timers::callback::Timeout;
use std::cell::RefCell;
use std::rc::Rc;
use yew::prelude::*;

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
