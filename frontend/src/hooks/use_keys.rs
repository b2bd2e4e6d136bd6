//! Hook for the keyboard of the whole page.

use crate::platform::KeyListener;
use crate::state::{KeyAction, action_of};
use std::cell::RefCell;
use std::rc::Rc;
use yew::prelude::*;

/// Calls `on_action` for every key that has an action, and keeps such keys from the browser.
///
/// The callback may change with every render; the listener stays.
#[hook]
pub fn use_keys(on_action: Callback<KeyAction>) {
    let newest = use_memo((), |()| RefCell::new(Callback::noop()));
    *newest.borrow_mut() = on_action;
    use_effect_with((), move |()| {
        let listener = KeyListener::new(move |press| {
            let Some(action) = action_of(&press) else { return false };
            let on_action = Rc::clone(&newest).borrow().clone();
            on_action.emit(action);
            // Esc also closes dialogs, which the browser has to handle.
            action != KeyAction::Unpin
        });
        move || drop(listener)
    });
}
