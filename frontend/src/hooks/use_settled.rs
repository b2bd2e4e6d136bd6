//! The view of the timeline, once it rests.

use super::Seen;
use gloo_timers::callback::Timeout;
use std::cell::RefCell;
use std::rc::Rc;
use yew::prelude::*;

/// What depends on the view is computed anew when it has rested for so long.
const REST_MS: u32 = 150;

/// The last view that rested, and what is told of every view.
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
