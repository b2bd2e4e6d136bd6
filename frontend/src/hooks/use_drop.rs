//! Hook for files that are dropped anywhere on the page.

use crate::platform::DropListener;
use yew::prelude::*;

/// Returns true while files are dragged over the page; `on_files` receives those that are dropped.
#[hook]
pub fn use_drop(on_files: Callback<Vec<web_sys::File>>) -> bool {
    let is_over = use_state_eq(|| false);
    let setter = is_over.setter();
    use_effect_with(on_files, move |on_files| {
        let on_files = on_files.clone();
        let listener = DropListener::new(move |is_over| setter.set(is_over), move |files| on_files.emit(files));
        move || drop(listener)
    });
    *is_over
}
