//! Hook for files that are dropped anywhere on the page, and for texts that are pasted there.

use crate::platform::{DropListener, PasteListener};
use yew::prelude::*;

/// Returns true while files are dragged over the page; `on_files` receives what is dropped or pasted.
#[hook]
pub fn use_drop(on_files: Callback<Vec<web_sys::File>>) -> bool {
    let is_over = use_state_eq(|| false);
    let setter = is_over.setter();
    use_effect_with(on_files, move |on_files| {
        let (dropped, pasted) = (on_files.clone(), on_files.clone());
        let drop_listener = DropListener::new(move |is_over| setter.set(is_over), move |files| dropped.emit(files));
        let paste_listener = PasteListener::new(move |files| pasted.emit(files));
        move || drop((drop_listener, paste_listener))
    });
    *is_over
}
