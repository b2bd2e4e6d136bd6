//! Hooks for what concerns the whole page: dropped and pasted files, the keyboard, and the colour scheme, light or
//! dark.

use crate::platform::{apply_scheme, on_drop, on_keys, on_paste, on_system_scheme, remembered_scheme, system_scheme};
use crate::state::{KeyAction, Scheme, SchemeChoice, action_of};
use std::cell::RefCell;
use std::rc::Rc;
use yew::prelude::*;

/// Returns true while files are dragged over the page; `on_files` receives what is dropped or pasted.
#[hook]
pub fn use_drop(on_files: Callback<Vec<web_sys::File>>) -> bool {
    let is_over = use_state_eq(|| false);
    let setter = is_over.setter();
    use_effect_with(on_files, move |on_files| {
        let (dropped, pasted) = (on_files.clone(), on_files.clone());
        let drop_listener = on_drop(move |is_over| setter.set(is_over), move |files| dropped.emit(files));
        let paste_listener = on_paste(move |files| pasted.emit(files));
        move || drop((drop_listener, paste_listener))
    });
    *is_over
}

/// Calls `on_action` for every key that has an action, and keeps such keys from the browser.
///
/// The callback may change with every render; the listener stays.
#[hook]
pub fn use_keys(on_action: Callback<KeyAction>) {
    let newest = use_memo((), |()| RefCell::new(Callback::noop()));
    *newest.borrow_mut() = on_action;
    use_effect_with((), move |()| {
        let listener = on_keys(move |press| {
            let Some(action) = action_of(&press) else { return false };
            let on_action = Rc::clone(&newest).borrow().clone();
            on_action.emit(action);
            // Esc also closes dialogs, which the browser has to handle.
            action != KeyAction::Unpin
        });
        move || drop(listener)
    });
}

#[derive(Clone, PartialEq)]
pub struct SchemeHandle {
    choice: UseStateHandle<SchemeChoice>,
    system: UseStateHandle<Scheme>,
}

impl SchemeHandle {
    pub fn choice(&self) -> SchemeChoice {
        *self.choice
    }

    pub fn scheme(&self) -> Scheme {
        self.choice.resolve(*self.system)
    }

    /// Changes the choice, for this visit and later ones.
    pub fn choose(&self, choice: SchemeChoice) {
        apply_scheme(choice);
        self.choice.set(choice);
    }
}

/// Returns the page's colour scheme, which follows the system's unless the user has chosen one.
#[hook]
pub fn use_scheme() -> SchemeHandle {
    let choice = use_state_eq(remembered_scheme);
    let system = use_state_eq(system_scheme);
    let setter = system.setter();
    use_effect_with((), move |()| {
        let listener = on_system_scheme(move |scheme| setter.set(scheme));
        move || drop(listener)
    });
    SchemeHandle { choice, system }
}
