//! The viewer before a file is opened.
//!
//! A module of its own and a small one: who comes for the first time sees the page before the viewer is there.

use frontend::{pages, platform};
use std::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

thread_local! {
    static PAGE: RefCell<Option<yew::AppHandle<pages::Home>>> = const { RefCell::new(None) };
}

/// Starts the page in the element `app`; `assets` is the address of the folder of its scripts.
///
/// `hand_over` is called with an array of files and the name of a dialog or nothing, and promises that the viewer has
/// taken the place of this page.
///
/// # Panics
/// If the document has no such element.
#[wasm_bindgen]
pub fn start(assets: &str, hand_over: js_sys::Function) {
    let root = platform::start(assets);
    let props = pages::HomeProps { hand_over: platform::HandOver::new(hand_over) };
    let page = yew::Renderer::<pages::Home>::with_root_and_props(root, props).render();
    PAGE.set(Some(page));
}

/// Ends the page, so that the viewer can take its place.
#[wasm_bindgen]
pub fn leave() {
    if let Some(page) = PAGE.take() {
        page.destroy();
    }
}
